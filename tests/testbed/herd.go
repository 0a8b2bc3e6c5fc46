// The pods that testbed churn changes, and the operations it has for them.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// sentAnnotation holds when a write was sent: what arrives late can be told from it.
const sentAnnotation = "testbed/sent"

type operation string

const (
	annotatePod operation = "annotate"
	labelPod    operation = "label"
	deletePod   operation = "delete"
	recreatePod operation = "recreate"
	createPod   operation = "create"
)

type podKey struct{ namespace, name string }

// task is one operation on one pod: track is the label that a label operation sets, body the pod that a creation sends.
type task struct {
	operation operation
	key       podKey
	track     string
	body      *corev1.Pod
}

// herd is the pods under churn. A pod with an operation under way is in neither list.
type herd struct {
	client    kubernetes.Interface
	seed      uint64
	rng       *rand.Rand
	workloads []*workload
	created   int

	mu       sync.Mutex
	alive    []podKey
	deleted  []*corev1.Pod
	counts   map[operation]int
	failures int
}

func newHerd(client kubernetes.Interface, seed uint64) *herd {
	return &herd{
		client: client,
		seed:   seed,
		rng:    rand.New(rand.NewPCG(seed, 0)),
		counts: map[operation]int{annotatePod: 0, labelPod: 0, deletePod: 0, recreatePod: 0, createPod: 0},
	}
}

func drawOperation(rng *rand.Rand) operation {
	switch draw := rng.IntN(100); {
	case draw < 60:
		return annotatePod
	case draw < 78:
		return labelPod
	case draw < 88:
		return deletePod
	case draw < 98:
		return recreatePod
	default:
		return createPod
	}
}

// draw takes a pod for the operation, or for another one when no pod is there for it.
func (h *herd) draw(wanted operation) task {
	h.mu.Lock()
	defer h.mu.Unlock()
	if wanted == recreatePod && len(h.deleted) > 0 {
		body := take(h.rng, &h.deleted)
		return task{operation: recreatePod, key: podKey{body.Namespace, body.Name}, body: body}
	}
	if wanted == createPod || len(h.alive) == 0 {
		return h.newPod()
	}
	if wanted == recreatePod {
		wanted = deletePod
	}
	t := task{operation: wanted, key: take(h.rng, &h.alive)}
	if wanted == labelPod {
		t.track = pick(h.rng, []string{"stable", "canary"})
	}
	return t
}

// newPod makes a pod that no load and no earlier churn has made.
func (h *herd) newPod() task {
	w := pick(h.rng, h.workloads)
	body := w.pod(h.seed, h.created)
	body.Name = fmt.Sprintf("%s-churn-%x", w.name, time.Now().UnixNano())
	h.created++
	return task{operation: createPod, key: podKey{body.Namespace, body.Name}, body: body}
}

// perform does the operation and puts the pod back where the next one finds it. A pod that failed is left out.
func (h *herd) perform(ctx context.Context, t task) error {
	pods := h.client.CoreV1().Pods(t.key.namespace)
	var err error
	switch t.operation {
	case annotatePod, labelPod:
		_, err = pods.Patch(ctx, t.key.name, types.MergePatchType, t.patch(), metav1.PatchOptions{})
	case deletePod:
		return h.delete(ctx, t.key)
	case recreatePod, createPod:
		metav1.SetMetaDataAnnotation(&t.body.ObjectMeta, sentAnnotation, now())
		_, err = pods.Create(ctx, t.body, metav1.CreateOptions{})
	}
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.alive = append(h.alive, t.key)
	return nil
}

// patch sets the time of sending, and for a label operation the track, which moves the pod in and out of selections.
func (t task) patch() []byte {
	meta := map[string]map[string]string{"annotations": {sentAnnotation: now()}}
	if t.track != "" {
		meta["labels"] = map[string]string{"track": t.track}
	}
	patch, err := json.Marshal(map[string]any{"metadata": meta})
	if err != nil {
		panic(err) // strings are JSON by construction
	}
	return patch
}

// delete removes the pod at once, as a kubelet ends a deletion, and keeps what is needed to create it again.
func (h *herd) delete(ctx context.Context, key podKey) error {
	pods := h.client.CoreV1().Pods(key.namespace)
	pod, err := pods.Get(ctx, key.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := pods.Delete(ctx, key.name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.deleted = append(h.deleted, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       pod.Namespace,
			Name:            pod.Name,
			Labels:          pod.Labels,
			Annotations:     pod.Annotations,
			OwnerReferences: pod.OwnerReferences,
		},
		Spec: pod.Spec,
	})
	return nil
}

// record counts a finished operation, and says the first failure on standard error.
func (h *herd) record(o operation, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		h.counts[o]++
		return
	}
	if h.failures++; h.failures == 1 {
		fmt.Fprintf(os.Stderr, "testbed churn: %s failed: %v\n", o, err)
	}
}

func now() string { return time.Now().UTC().Format(time.RFC3339Nano) }

// take removes a random element.
func take[T any](rng *rand.Rand, from *[]T) T {
	list := *from
	i := rng.IntN(len(list))
	taken := list[i]
	list[i] = list[len(list)-1]
	*from = list[:len(list)-1]
	return taken
}
