// The writes of testbed browse: creations, changes and deletions.

package browse

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
)

// labels are set on every object that the browser creates.
var labels = map[string]string{"browse": "yes"}

// made is the resources that the browser creates objects of.
var made = []schema.GroupVersionResource{
	{Version: "v1", Resource: "configmaps"},
	{Version: "v1", Resource: "secrets"},
	{Version: "v1", Resource: "services"},
	{Version: "v1", Resource: "pods"},
	{Version: "v1", Resource: "persistentvolumeclaims"},
	{Group: "apps", Version: "v1", Resource: "deployments"},
	{Group: "apps", Version: "v1", Resource: "statefulsets"},
	{Group: "apps", Version: "v1", Resource: "daemonsets"},
	{Group: "batch", Version: "v1", Resource: "cronjobs"},
	{Group: "batch", Version: "v1", Resource: "jobs"},
	{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"},
	browsed,
}

var (
	browsed     = schema.GroupVersionResource{Group: "browse.kdelta.dev", Version: "v1", Resource: "visits"}
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

// defineKind creates a kind, and waits until it is served.
func (b *browser) defineKind(ctx context.Context) error {
	version := map[string]any{
		"name": "v1", "served": true, "storage": true,
		"schema": map[string]any{"openAPIV3Schema": map[string]any{
			"type": "object", "x-kubernetes-preserve-unknown-fields": true,
		}},
		"additionalPrinterColumns": []any{map[string]any{"name": "Place", "type": "string", "jsonPath": ".spec.place"}},
	}
	names := map[string]any{"plural": "visits", "singular": "visit", "kind": "Visit", "shortNames": []any{"vis"}}
	definition := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "visits.browse.kdelta.dev"},
		"spec":     map[string]any{"group": browsed.Group, "scope": "Namespaced", "names": names, "versions": []any{version}},
	}}
	_, err := b.dynamic.Resource(definitions).Create(ctx, definition, metav1.CreateOptions{})
	b.report("define", err)
	served := func(ctx context.Context) (bool, error) {
		_, err := b.dynamic.Resource(browsed).List(ctx, metav1.ListOptions{})
		return err == nil, nil
	}
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 20*time.Second, true, served)
}

// create creates one object of each kind that a browser has a view for; none of them runs a container.
func (b *browser) create(ctx context.Context) error {
	_, err := b.typed.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.namespace}}, metav1.CreateOptions{})
	b.report("namespace", err)
	none := int32(0)
	suspended := true
	pod := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	once := *pod.DeepCopy()
	once.Spec.RestartPolicy = corev1.RestartPolicyNever
	selector := &metav1.LabelSelector{MatchLabels: pod.Labels}
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Labels: labels} }
	options := metav1.CreateOptions{}
	_, err = b.typed.CoreV1().ConfigMaps(b.namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: meta("settings"), Data: map[string]string{"a": "b"}}, options)
	b.report("config map", err)
	_, err = b.typed.CoreV1().Secrets(b.namespace).Create(ctx, &corev1.Secret{ObjectMeta: meta("hidden"), Data: map[string][]byte{"a": []byte("b")}}, options)
	b.report("secret", err)
	ports := []corev1.ServicePort{{Port: 80}}
	_, err = b.typed.CoreV1().Services(b.namespace).Create(ctx, &corev1.Service{ObjectMeta: meta("web"), Spec: corev1.ServiceSpec{Ports: ports, ClusterIP: "None"}}, options)
	b.report("service", err)
	_, err = b.typed.CoreV1().Services(b.namespace).Create(ctx, &corev1.Service{ObjectMeta: meta("away"), Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "x.y"}}, options)
	b.report("service elsewhere", err)
	seconds, since := int32(15), metav1.NewMicroTime(time.Unix(1, 2000))
	_, err = b.typed.CoordinationV1().Leases(b.namespace).Create(ctx, &coordinationv1.Lease{ObjectMeta: meta("leader"), Spec: coordinationv1.LeaseSpec{LeaseDurationSeconds: &seconds, AcquireTime: &since, RenewTime: &since}}, options)
	b.report("lease", err)
	_, err = b.typed.CoreV1().Pods(b.namespace).Create(ctx, &corev1.Pod{ObjectMeta: meta("lone"), Spec: once.Spec}, options)
	b.report("pod", err)
	_, err = b.typed.AppsV1().Deployments(b.namespace).Create(ctx, &appsv1.Deployment{ObjectMeta: meta("web"), Spec: appsv1.DeploymentSpec{Replicas: &none, Selector: selector, Template: pod}}, options)
	b.report("deployment", err)
	_, err = b.typed.AppsV1().StatefulSets(b.namespace).Create(ctx, &appsv1.StatefulSet{ObjectMeta: meta("db"), Spec: appsv1.StatefulSetSpec{Replicas: &none, Selector: selector, Template: pod, ServiceName: "web"}}, options)
	b.report("stateful set", err)
	away := *pod.DeepCopy()
	away.Spec.NodeSelector = map[string]string{"browse": "nowhere"}
	_, err = b.typed.AppsV1().DaemonSets(b.namespace).Create(ctx, &appsv1.DaemonSet{ObjectMeta: meta("agent"), Spec: appsv1.DaemonSetSpec{Selector: selector, Template: away}}, options)
	b.report("daemon set", err)
	_, err = b.typed.BatchV1().CronJobs(b.namespace).Create(ctx, &batchv1.CronJob{ObjectMeta: meta("nightly"), Spec: batchv1.CronJobSpec{
		Schedule: "5 4 * * *", Suspend: &suspended, JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: once}},
	}}, options)
	b.report("cron job", err)
	claim := corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}}
	_, err = b.typed.CoreV1().PersistentVolumeClaims(b.namespace).Create(ctx, &corev1.PersistentVolumeClaim{ObjectMeta: meta("disk"), Spec: claim}, options)
	b.report("claim of nothing", err)
	visit := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "browse.kdelta.dev/v1", "kind": "Visit", "spec": map[string]any{"place": "here"},
		"metadata": map[string]any{"name": "first", "labels": map[string]any{"browse": "yes"}},
	}}
	_, err = b.dynamic.Resource(browsed).Namespace(b.namespace).Create(ctx, visit, options)
	b.report("visit", err)
	return nil
}

// patch makes the changes of a browser's keys: label, set an image, restart, cordon.
func (b *browser) patch(ctx context.Context) error {
	deployments := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	patches := []struct {
		what  string
		how   types.PatchType
		patch string
	}{
		{"label", types.MergePatchType, `{"metadata":{"labels":{"seen":"yes"}}}`},
		{"unlabel", types.MergePatchType, `{"metadata":{"labels":{"seen":null}}}`},
		{"set image", types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"c"}],"containers":[{"image":"j","name":"c"}]}}}}`},
		{"restart", types.StrategicMergePatchType, `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-01-02T03:04:05Z"}}}}}`},
		{"nothing of its type", types.StrategicMergePatchType, `{"spec":{"nothing":"many"}}`},
		{"no such", types.JSONPatchType, `[{"op":"remove","path":"/spec/nothing"}]`},
	}
	for _, each := range patches {
		object, err := b.dynamic.Resource(deployments).Namespace(b.namespace).Patch(ctx, "web", each.how, []byte(each.patch), metav1.PatchOptions{FieldManager: "kubectl-rollout"})
		b.report(each.what, err)
		if err == nil {
			b.say("%s", text(plain(object)))
		}
	}
	return nil
}

// scale reads the subresource, and writes it back in protobuf.
func (b *browser) scale(ctx context.Context) error {
	for _, replicas := range []int32{1, 0} {
		scale, err := b.typed.AppsV1().Deployments(b.namespace).GetScale(ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		b.say("%d of %s", scale.Spec.Replicas, scale.Status.Selector)
		scale.Spec.Replicas = replicas
		// Controllers write too; the update must not conflict with them.
		scale.ResourceVersion = ""
		scale, err = b.typed.AppsV1().Deployments(b.namespace).UpdateScale(ctx, "web", scale, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		b.say("scaled to %d", scale.Spec.Replicas)
	}
	return nil
}

// update writes an object back unchanged in protobuf, with every field that the server has set.
func (b *browser) update(ctx context.Context) error {
	core, sets, jobs := b.typed.CoreV1(), b.typed.AppsV1(), b.typed.BatchV1()
	b.report("config map", updateWithRetry(ctx, "settings", core.ConfigMaps(b.namespace)))
	b.report("secret", updateWithRetry(ctx, "hidden", core.Secrets(b.namespace)))
	b.report("service", updateWithRetry(ctx, "web", core.Services(b.namespace)))
	b.report("pod", updateWithRetry(ctx, "lone", core.Pods(b.namespace)))
	b.report("namespace", updateWithRetry(ctx, b.namespace, core.Namespaces()))
	b.report("deployment", updateWithRetry(ctx, "web", sets.Deployments(b.namespace)))
	b.report("stateful set", updateWithRetry(ctx, "db", sets.StatefulSets(b.namespace)))
	b.report("daemon set", updateWithRetry(ctx, "agent", sets.DaemonSets(b.namespace)))
	b.report("cron job", updateWithRetry(ctx, "nightly", jobs.CronJobs(b.namespace)))
	b.report("lease", updateWithRetry(ctx, "leader", b.typed.CoordinationV1().Leases(b.namespace)))
	old, err := core.ConfigMaps(b.namespace).Get(ctx, "settings", metav1.GetOptions{})
	if err != nil {
		return err
	}
	old.ResourceVersion = "1"
	_, err = core.ConfigMaps(b.namespace).Update(ctx, old, metav1.UpdateOptions{})
	b.report("an old one", err)
	return nil
}

// updater is the common interface of the typed clients.
type updater[T any] interface {
	Get(ctx context.Context, name string, options metav1.GetOptions) (T, error)
	Update(ctx context.Context, object T, options metav1.UpdateOptions) (T, error)
}

// updateWithRetry reads an object, annotates it and writes it back, with a second try after a conflict with a controller.
func updateWithRetry[T metav1.Object](ctx context.Context, name string, client updater[T]) error {
	var err error
	for range 5 {
		object, failed := client.Get(ctx, name, metav1.GetOptions{})
		if failed != nil {
			return failed
		}
		object.SetAnnotations(map[string]string{"browse": "was here"})
		if object, err = client.Update(ctx, object, metav1.UpdateOptions{}); err == nil {
			if object.GetAnnotations()["browse"] != "was here" || object.GetLabels() == nil {
				return fmt.Errorf("it is not what was written")
			}
			return nil
		}
	}
	return err
}

// trigger runs a cron job by hand: it creates a job from its template, owned by it.
func (b *browser) trigger(ctx context.Context) error {
	nightly, err := b.typed.BatchV1().CronJobs(b.namespace).Get(ctx, "nightly", metav1.GetOptions{})
	if err != nil {
		return err
	}
	suspended := true
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: "by-hand", Labels: labels, Annotations: map[string]string{"cronjob.kubernetes.io/instantiate": "manual"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(nightly, batchv1.SchemeGroupVersion.WithKind("CronJob"))},
		},
		Spec: *nightly.Spec.JobTemplate.Spec.DeepCopy(),
	}
	job.Spec.Suspend = &suspended
	_, err = b.typed.BatchV1().Jobs(b.namespace).Create(ctx, job, metav1.CreateOptions{})
	b.report("job", err)
	b.report("job again", updateWithRetry(ctx, "by-hand", b.typed.BatchV1().Jobs(b.namespace)))
	return nil
}

// delete deletes in every way that a browser offers, and leaves only the namespace.
func (b *browser) delete(ctx context.Context) error {
	background, now, other := metav1.DeletePropagationBackground, int64(0), types.UID("other")
	maps := b.typed.CoreV1().ConfigMaps(b.namespace)
	err := maps.Delete(ctx, "settings", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}})
	b.report("another one", err)
	b.report("config map", maps.Delete(ctx, "settings", metav1.DeleteOptions{PropagationPolicy: &background}))
	b.report("config map again", maps.Delete(ctx, "settings", metav1.DeleteOptions{PropagationPolicy: &background}))
	b.report("pod", b.typed.CoreV1().Pods(b.namespace).Delete(ctx, "lone", metav1.DeleteOptions{GracePeriodSeconds: &now}))
	b.report("deployment", b.typed.AppsV1().Deployments(b.namespace).Delete(ctx, "web", metav1.DeleteOptions{PropagationPolicy: &background, GracePeriodSeconds: &now}))
	events := schema.GroupVersionResource{Group: "events.k8s.io", Version: "v1", Resource: "events"}
	b.report("event", b.dynamic.Resource(events).Namespace(b.namespace).Delete(ctx, "told", metav1.DeleteOptions{}))
	b.report("secrets", b.typed.CoreV1().Secrets(b.namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: own}))
	b.report("definition", b.dynamic.Resource(definitions).Delete(ctx, "visits.browse.kdelta.dev", metav1.DeleteOptions{}))
	b.report("namespace", b.typed.CoreV1().Namespaces().Delete(ctx, b.namespace, metav1.DeleteOptions{PropagationPolicy: &background}))
	return nil
}
