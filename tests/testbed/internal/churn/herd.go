// The objects that testbed churn changes, and its operations.

package churn

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"kdelta.dev/testbed/internal/workload"
)

type operation string

const (
	annotateOne operation = "annotate"
	labelOne    operation = "label"
	deleteOne   operation = "delete"
	recreateOne operation = "recreate"
	createOne   operation = "create"
)

// objectKey names an object of the core group.
type objectKey struct{ resource, namespace, name string }

// object is a typed object of the API.
type object interface {
	runtime.Object
	metav1.Object
}

// task is one operation on one object: track is the label value of a label operation, body the object of a creation.
type task struct {
	operation operation
	key       objectKey
	track     string
	body      object
}

// removed is a deleted object, ready to be created again.
type removed struct {
	key  objectKey
	body object
}

// herd is the objects under churn. An object with a pending operation is in neither list.
type herd struct {
	client    rest.Interface
	seed      uint64
	rng       *rand.Rand
	kinds     []string
	workloads []*workload.Workload
	created   int

	mu       sync.Mutex
	alive    []objectKey
	deleted  []removed
	counts   map[operation]int
	failures int
}

func newHerd(client kubernetes.Interface, kinds []string, seed uint64) *herd {
	return &herd{
		client: client.CoreV1().RESTClient(),
		seed:   seed,
		rng:    rand.New(rand.NewPCG(seed, 0)),
		kinds:  kinds,
		counts: map[operation]int{annotateOne: 0, labelOne: 0, deleteOne: 0, recreateOne: 0, createOne: 0},
	}
}

func drawOperation(rng *rand.Rand) operation {
	switch draw := rng.IntN(100); {
	case draw < 60:
		return annotateOne
	case draw < 78:
		return labelOne
	case draw < 88:
		return deleteOne
	case draw < 98:
		return recreateOne
	default:
		return createOne
	}
}

// draw takes an object for the operation, or changes the operation if no object is available for it.
func (h *herd) draw(wanted operation) task {
	h.mu.Lock()
	defer h.mu.Unlock()
	if wanted == recreateOne && len(h.deleted) > 0 {
		gone := take(h.rng, &h.deleted)
		return task{operation: recreateOne, key: gone.key, body: gone.body}
	}
	if wanted == createOne || len(h.alive) == 0 {
		return h.newObject(workload.Pick(h.rng, h.kinds))
	}
	if wanted == recreateOne {
		wanted = deleteOne
	}
	t := task{operation: wanted, key: take(h.rng, &h.alive)}
	if wanted == labelOne {
		t.track = workload.Pick(h.rng, []string{"stable", "canary"})
	}
	return t
}

// newObject returns an object with a name that neither load nor earlier churn has used.
func (h *herd) newObject(resource string) task {
	w := workload.Pick(h.rng, h.workloads)
	pod := w.Pod(h.seed, h.created)
	h.created++
	var body object = pod
	meta := metav1.ObjectMeta{Namespace: pod.Namespace, Labels: pod.Labels, Annotations: pod.Annotations}
	data := map[string]string{"config": fmt.Sprint(h.created), "team": pod.Labels["team"]}
	switch resource {
	case "configmaps":
		body = &corev1.ConfigMap{ObjectMeta: meta, Data: data}
	case "secrets":
		body = &corev1.Secret{ObjectMeta: meta, StringData: data}
	}
	body.SetName(fmt.Sprintf("%s-churn-%x", w.Name, time.Now().UnixNano()))
	return task{operation: createOne, key: objectKey{resource, body.GetNamespace(), body.GetName()}, body: body}
}

// perform runs the operation and returns the object to its list. An object whose operation failed is dropped.
func (h *herd) perform(ctx context.Context, t task) error {
	var err error
	switch t.operation {
	case annotateOne, labelOne:
		err = t.key.of(h.client.Patch(types.MergePatchType)).Body(t.patch()).Do(ctx).Error()
	case deleteOne:
		return h.delete(ctx, t.key)
	case recreateOne, createOne:
		annotations := maps.Clone(t.body.GetAnnotations())
		annotations[workload.SentAnnotation] = now()
		t.body.SetAnnotations(annotations)
		err = h.client.Post().Namespace(t.key.namespace).Resource(t.key.resource).Body(t.body).Do(ctx).Error()
	}
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.alive = append(h.alive, t.key)
	return nil
}

// of returns a request for the object.
func (k objectKey) of(request *rest.Request) *rest.Request {
	return request.Namespace(k.namespace).Resource(k.resource).Name(k.name)
}

// patch sets the sending time, and for a label operation the track, which moves the object in and out of selections.
func (t task) patch() []byte {
	meta := map[string]map[string]string{"annotations": {workload.SentAnnotation: now()}}
	if t.track != "" {
		meta["labels"] = map[string]string{"track": t.track}
	}
	patch, err := json.Marshal(map[string]any{"metadata": meta})
	if err != nil {
		panic(err) // strings are JSON by construction
	}
	return patch
}

// delete removes the object at once, as a kubelet completes a deletion, and keeps the fields needed to create it
// again.
func (h *herd) delete(ctx context.Context, key objectKey) error {
	found, err := key.of(h.client.Get()).Do(ctx).Get()
	if err != nil {
		return err
	}
	now := &metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}
	if err := key.of(h.client.Delete()).Body(now).Do(ctx).Error(); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.deleted = append(h.deleted, removed{key, recreated(found)})
	return nil
}

// recreated returns an object that creates the same object again.
func recreated(found runtime.Object) object {
	switch of := found.(type) {
	case *corev1.ConfigMap:
		return &corev1.ConfigMap{ObjectMeta: metaOf(of), Data: of.Data}
	case *corev1.Secret:
		return &corev1.Secret{ObjectMeta: metaOf(of), Data: of.Data}
	case *corev1.Pod:
		return &corev1.Pod{ObjectMeta: metaOf(of), Spec: of.Spec}
	default:
		panic(fmt.Sprintf("churn knows no %T", found)) // parseChurnFlags knows the same kinds
	}
}

// metaOf returns the metadata fields that a creator sets.
func metaOf(of metav1.Object) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace:       of.GetNamespace(),
		Name:            of.GetName(),
		Labels:          of.GetLabels(),
		Annotations:     of.GetAnnotations(),
		OwnerReferences: of.GetOwnerReferences(),
	}
}

// record counts a finished operation, and prints the first failure on standard error.
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
