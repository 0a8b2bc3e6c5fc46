// Package workload generates synthetic workloads: pods with the names, labels, owners and statuses of a real cluster.
// As in a real cluster, pods of one workload are alike.
package workload

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const nodes = 50

// SentAnnotation holds the time at which a write was sent, for measuring delays.
const SentAnnotation = "testbed/sent"

var (
	apps       = []string{"web", "api", "worker", "cache", "queue", "search", "billing", "auth", "mailer", "ingest"}
	teams      = []string{"checkout", "catalog", "identity", "payments", "logistics", "growth", "platform", "data"}
	tiers      = []string{"frontend", "backend", "middle", "batch"}
	settings   = []string{"LOG_LEVEL", "HTTP_PORT", "DB_HOST", "DB_NAME", "CACHE_URL", "QUEUE_URL", "REGION", "FEATURE_FLAGS", "TRACE_RATIO", "MAX_CONNECTIONS", "TIMEOUT_MS", "RETRY_LIMIT"}
	registries = []string{"registry.example.com", "images.example.net/prod", "mirror.example.org/library"}
)

// suffixes is the number of five-letter endings of pod names.
const suffixLetters, suffixes = "bcdfghjklmnpqrstvwxz2456789", 27 * 27 * 27 * 27 * 27

// Workload is a pod template and the parts of its pods' names and owners.
type Workload struct {
	Namespace string
	Name      string // of the ReplicaSet
	template  corev1.Pod
}

// New generates a workload; the same seed and index give the same one.
func New(seed uint64, index int, namespace string) *Workload {
	rng := rand.New(rand.NewPCG(seed, uint64(index)))
	app, team := Pick(rng, apps), Pick(rng, teams)
	if index == 0 {
		app = "web" // however few there are
	}
	hash := token(rng, 10)
	w := &Workload{Namespace: namespace, Name: fmt.Sprintf("%s-%s-%d-%s", app, team, index, hash)}
	w.template = corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace,
			Labels: map[string]string{
				"app": app, "team": team, "tier": Pick(rng, tiers), "track": "stable",
				"version":           fmt.Sprintf("v%d.%d.%d", 1+rng.IntN(4), rng.IntN(30), rng.IntN(10)),
				"pod-template-hash": hash,
			},
			Annotations: map[string]string{
				"checksum/config":                   fmt.Sprintf("%016x%016x%016x%016x", rng.Uint64(), rng.Uint64(), rng.Uint64(), rng.Uint64()),
				"prometheus.io/port":                fmt.Sprint(9000 + rng.IntN(1000)),
				"kubectl.kubernetes.io/restartedAt": fmt.Sprintf("2026-%02d-%02dT%02d:%02d:00Z", 1+rng.IntN(9), 1+rng.IntN(28), rng.IntN(24), rng.IntN(60)),
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: w.Name, UID: uid(rng),
				Controller: new(true), BlockOwnerDeletion: new(true),
			}},
		},
		Spec: podSpec(rng, app, team),
	}
	return w
}

// Pod generates the index-th pod of all; the index determines its name and its node.
func (w *Workload) Pod(seed uint64, index int) *corev1.Pod {
	rng := podRandom(seed, index)
	pod := w.template.DeepCopy()
	pod.Name = w.Name + "-" + suffix(index)
	pod.Spec.NodeName = fmt.Sprintf("worker-%02d", rng.IntN(nodes))
	return pod
}

// podRandom is the random source for one pod, independent of those of the workloads.
func podRandom(seed uint64, index int) *rand.Rand {
	return rand.New(rand.NewPCG(^seed, uint64(index)))
}

func podSpec(rng *rand.Rand, app, team string) corev1.PodSpec {
	return corev1.PodSpec{
		ServiceAccountName:            app,
		TerminationGracePeriodSeconds: new(int64(10 + rng.IntN(50))),
		NodeSelector:                  map[string]string{"kubernetes.io/os": "linux", "example.com/pool": Pick(rng, tiers)},
		Volumes:                       volumes(rng, app, team),
		Containers:                    []corev1.Container{mainContainer(rng, app, team), sidecar(rng)},
	}
}

func mainContainer(rng *rand.Rand, app, team string) corev1.Container {
	port := intstr.FromInt32(int32(8000 + rng.IntN(1000)))
	container := corev1.Container{
		Name:            app,
		Image:           fmt.Sprintf("%s/%s/%s:%d.%d.%d", Pick(rng, registries), team, app, 1+rng.IntN(4), rng.IntN(30), rng.IntN(10)),
		ImagePullPolicy: corev1.PullIfNotPresent,
		Args:            []string{"serve", fmt.Sprintf("--listen=:%d", port.IntVal), "--workers=" + fmt.Sprint(1+rng.IntN(16))},
		Ports:           []corev1.ContainerPort{{Name: "http", ContainerPort: port.IntVal, Protocol: corev1.ProtocolTCP}},
		Env:             environment(rng, app, team),
		Resources:       resources(rng, 1),
		ReadinessProbe:  httpProbe(rng, "/readyz", port),
		VolumeMounts:    []corev1.VolumeMount{{Name: "config", MountPath: "/etc/" + app, ReadOnly: true}},
		SecurityContext: &corev1.SecurityContext{RunAsUser: new(int64(1000 + rng.IntN(50)))},
	}
	if rng.IntN(3) == 0 {
		container.LivenessProbe = httpProbe(rng, "/livez", port)
	}
	return container
}

func sidecar(rng *rand.Rand) corev1.Container {
	return corev1.Container{
		Name:            "proxy",
		Image:           fmt.Sprintf("registry.example.com/mesh/proxy:1.%d.%d", rng.IntN(9), rng.IntN(9)),
		ImagePullPolicy: corev1.PullIfNotPresent,
		Env:             []corev1.EnvVar{{Name: "PROXY_LOG_LEVEL", Value: Pick(rng, []string{"info", "warning", "error"})}},
		Resources:       resources(rng, 4),
	}
}

// environment generates some of the settings, one of them from a secret.
func environment(rng *rand.Rand, app, team string) []corev1.EnvVar {
	secret := corev1.LocalObjectReference{Name: app + "-credentials"}
	env := []corev1.EnvVar{
		{Name: "DB_PASSWORD", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: secret, Key: "password"}}},
	}
	for _, i := range rng.Perm(len(settings))[:1+rng.IntN(4)] {
		env = append(env, corev1.EnvVar{Name: settings[i], Value: fmt.Sprintf("%s-%s-%s", team, token(rng, 6), Pick(rng, tiers))})
	}
	return env
}

func httpProbe(rng *rand.Rand, path string, port intstr.IntOrString) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler:        corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: port}},
		InitialDelaySeconds: int32(rng.IntN(30)),
		PeriodSeconds:       int32(5 + rng.IntN(25)),
		TimeoutSeconds:      int32(1 + rng.IntN(5)),
		FailureThreshold:    int32(2 + rng.IntN(4)),
	}
}

func resources(rng *rand.Rand, share int64) corev1.ResourceRequirements {
	cpu, memory := int64(50*(1+rng.IntN(20)))/share, int64(64*(1+rng.IntN(32)))/share
	amount := func(factor int64) corev1.ResourceList {
		return corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity(cpu*factor, resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(memory*factor<<20, resource.BinarySI),
		}
	}
	return corev1.ResourceRequirements{Requests: amount(1), Limits: amount(2)}
}

func volumes(rng *rand.Rand, app, team string) []corev1.Volume {
	config := corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: app + "-" + team + "-config"}}
	drawn := []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &config}}}
	if rng.IntN(3) == 0 {
		scratch := corev1.EmptyDirVolumeSource{SizeLimit: resource.NewQuantity(int64(1+rng.IntN(64))<<26, resource.BinarySI)}
		drawn = append(drawn, corev1.Volume{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &scratch}})
	}
	return drawn
}

// Pick returns a random element.
func Pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }

// token returns a name like a generated one.
func token(rng *rand.Rand, length int) string {
	letters := make([]byte, length)
	for i := range letters {
		letters[i] = suffixLetters[rng.IntN(len(suffixLetters))]
	}
	return string(letters)
}

// suffix encodes the index so that neighbors look different and no two are equal.
func suffix(index int) string {
	const stride = 8_675_309 // shares no factor with the number of suffixes
	rest := index * stride % suffixes
	letters := make([]byte, 5)
	for i := range letters {
		letters[i] = suffixLetters[rest%27]
		rest /= 27
	}
	return string(letters)
}

func uid(rng *rand.Rand) types.UID {
	high, low := rng.Uint64(), rng.Uint64()
	return types.UID(fmt.Sprintf("%08x-%04x-4%03x-%04x-%012x",
		high>>32, high>>16&0xffff, high&0xfff, 0x8000|low>>48&0x3fff, low&0xffffffffffff))
}
