// The reads of testbed browse: permissions, tables, whole objects, events, and changes.

package browse

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

// own selects the objects that the browser created.
const own = "browse=yes"

func (b *browser) askRights(ctx context.Context) error {
	for _, verb := range []string{"list", "delete", "patch"} {
		for _, resource := range []string{"pods", "nodes", "deployments"} {
			review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: b.namespace, Verb: verb, Resource: resource},
			}}
			answer, err := b.typed.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
			if err != nil {
				return err
			}
			b.say("%s %s: %t", verb, resource, answer.Status.Allowed)
		}
	}
	review := &authorizationv1.SelfSubjectRulesReview{Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: b.namespace}}
	answer, err := b.typed.AuthorizationV1().SelfSubjectRulesReviews().Create(ctx, review, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	everything := slices.ContainsFunc(answer.Status.ResourceRules, func(rule authorizationv1.ResourceRule) bool {
		return slices.Contains(rule.Verbs, "*") && slices.Contains(rule.Resources, "*") && slices.Contains(rule.APIGroups, "*")
	})
	b.say("everything: %t, incomplete: %t", everything, answer.Status.Incomplete)
	return nil
}

// requestMissing requests objects that a small cluster lacks, and cluster-scoped resources inside a namespace.
func (b *browser) requestMissing(ctx context.Context) error {
	metrics := schema.GroupVersionResource{Group: "metrics.k8s.io", Version: "v1beta1", Resource: "pods"}
	_, err := b.dynamic.Resource(metrics).List(ctx, metav1.ListOptions{})
	b.report("metrics", err)
	for _, view := range viewed {
		resource := schema.GroupVersionResource{Group: view.group, Version: view.version, Resource: view.resource}
		options := metav1.ListOptions{Limit: 500, ResourceVersion: "0"}
		_, err := b.dynamic.Resource(resource).Namespace("nowhere").List(ctx, options)
		b.report(view.resource+" nowhere", err)
		_, err = b.dynamic.Resource(resource).List(ctx, options)
		b.report(view.resource+" everywhere", err)
	}
	_, err = b.typed.CoreV1().Pods("default").Get(ctx, "no-such-pod", metav1.GetOptions{})
	b.report("a pod", err)
	events := schema.GroupVersionResource{Group: "events.k8s.io", Version: "v1", Resource: "events"}
	_, err = b.dynamic.Resource(events).Namespace("default").Get(ctx, "no-such-event", metav1.GetOptions{})
	b.report("an event", err)
	_, err = b.dynamic.Resource(events).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=x"})
	b.report("events by a field of the other group", err)
	return nil
}

// readTables reads each list as a Table; of pods only the columns, since they run on one server only.
func (b *browser) readTables(ctx context.Context) error {
	const accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
	for _, resource := range made {
		for _, include := range []string{"None", "Metadata", "Object"} {
			table := &metav1.Table{}
			path := "/apis/" + resource.Group + "/" + resource.Version
			if resource.Group == "" {
				path = "/api/v1"
			}
			path += "/namespaces/" + b.namespace + "/" + resource.Resource
			answer := b.typed.CoreV1().RESTClient().Get().AbsPath(path).SetHeader("Accept", accept).
				Param("includeObject", include).Param("labelSelector", own).Do(ctx)
			if err := answer.Into(table); err != nil {
				b.report(resource.Resource, err)
				continue
			}
			b.table(resource.Resource+" "+include, table)
		}
	}
	return nil
}

func (b *browser) table(name string, table *metav1.Table) {
	columns := []string{}
	for _, column := range table.ColumnDefinitions {
		columns = append(columns, fmt.Sprintf("%s %s/%s/%d", column.Name, column.Type, column.Format, column.Priority))
	}
	b.say("%s: %s", name, strings.Join(columns, ", "))
	if strings.HasPrefix(name, "pods") {
		return
	}
	for _, row := range table.Rows {
		b.say("  %s", text(row.Cells))
	}
}

// readWhole reads each object as a browser shows its YAML.
func (b *browser) readWhole(ctx context.Context) error {
	for _, resource := range made {
		list, err := b.dynamic.Resource(resource).Namespace(b.namespace).List(ctx, metav1.ListOptions{LabelSelector: own})
		if err != nil {
			b.report(resource.Resource, err)
			continue
		}
		for _, item := range list.Items {
			object, err := b.dynamic.Resource(resource).Namespace(b.namespace).Get(ctx, item.GetName(), metav1.GetOptions{})
			if err != nil {
				b.report(item.GetName(), err)
				continue
			}
			b.say("%s", text(plain(object)))
		}
	}
	return nil
}

// plain returns an object without the fields that its server or controllers set.
func plain(object *unstructured.Unstructured) map[string]any {
	metadata := map[string]any{"name": object.GetName(), "labels": object.GetLabels()}
	plain := map[string]any{"kind": object.GetKind(), "apiVersion": object.GetAPIVersion(), "metadata": metadata}
	for key, value := range object.Object {
		if _, known := plain[key]; !known && key != "status" {
			plain[key] = value
		}
	}
	if spec, ok := plain["spec"].(map[string]any); ok {
		if _, isPod := spec["containers"]; isPod {
			for _, placed := range []string{"nodeName", "serviceAccount", "serviceAccountName", "tolerations", "volumes"} {
				delete(spec, placed)
			}
		}
	}
	return plain
}

// createEvent creates an event of an object.
func (b *browser) createEvent(ctx context.Context) error {
	deployment, err := b.typed.AppsV1().Deployments(b.namespace).Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		return err
	}
	now := metav1.NewTime(time.Now().Add(-time.Minute))
	reference := corev1.ObjectReference{
		APIVersion: "apps/v1", Kind: "Deployment", Namespace: b.namespace, Name: "web", UID: deployment.UID,
	}
	_, err = b.typed.CoreV1().Events(b.namespace).Create(ctx, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: "told", Namespace: b.namespace, Labels: labels}, InvolvedObject: reference,
		Reason: "Told", Message: "once", Type: "Normal", Count: 1, FirstTimestamp: now, LastTimestamp: now,
		Source: corev1.EventSource{Component: "browse"}, ReportingController: "browse",
	}, metav1.CreateOptions{})
	b.report("create event", err)
	return nil
}

// readEvents reads the events of an object from both event groups.
func (b *browser) readEvents(ctx context.Context) error {
	deployment, err := b.typed.AppsV1().Deployments(b.namespace).Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, by := range []struct{ group, field string }{{"", "involvedObject"}, {"events.k8s.io", "regarding"}} {
		events := schema.GroupVersionResource{Group: by.group, Version: "v1", Resource: "events"}
		selector := fmt.Sprintf("%[1]s.name=web,%[1]s.namespace=%[2]s,%[1]s.uid=%[3]s,reason=Told", by.field, b.namespace, deployment.UID)
		list, err := b.dynamic.Resource(events).Namespace(b.namespace).List(ctx, metav1.ListOptions{FieldSelector: selector})
		if err != nil {
			b.report("events", err)
			continue
		}
		for _, item := range list.Items {
			b.say("%s", text(plain(&item)))
		}
	}
	return nil
}

// follow runs an informer for each resource from one factory, as a browser does for its views, and makes changes.
func (b *browser) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	selectors := func(options *metav1.ListOptions) { options.LabelSelector = own }
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(b.dynamic, 0, b.namespace, selectors)
	seen := newSightings()
	for _, resource := range made {
		if _, err := factory.ForResource(resource).Informer().AddEventHandler(seen.of(resource.Resource)); err != nil {
			return err
		}
	}
	factory.Start(ctx.Done())
	for resource, synced := range factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("no sync of %s", resource.Resource)
		}
	}
	maps := b.typed.CoreV1().ConfigMaps(b.namespace)
	followed := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "followed", Labels: labels}}
	if followed, err := maps.Create(ctx, followed, metav1.CreateOptions{}); err != nil {
		return err
	} else {
		followed.Data = map[string]string{"a": "b"}
		if _, err := maps.Update(ctx, followed, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	if err := maps.Delete(ctx, "followed", metav1.DeleteOptions{}); err != nil {
		return err
	}
	gone := func(context.Context) (bool, error) { return seen.has("configmaps/followed DELETED"), nil }
	if err := wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, 20*time.Second, true, gone); err != nil {
		return fmt.Errorf("the informer has not seen the deletion: %w", err)
	}
	for _, line := range seen.sorted() {
		b.say("%s", line)
	}
	return nil
}

// sightings records the notifications of handlers. A mutex: several informers write, each locks it for one line.
type sightings struct {
	sync.Mutex
	lines map[string]bool
}

func newSightings() *sightings { return &sightings{lines: map[string]bool{}} }

func (s *sightings) note(resource, what string, object any) {
	name, err := cache.DeletionHandlingObjectToName(object)
	if err != nil {
		return
	}
	s.Lock()
	defer s.Unlock()
	s.lines[fmt.Sprintf("%s/%s %s", resource, name.Name, what)] = true
}

// of returns a handler. Updates are recorded for config maps only: the browser alone changes those.
func (s *sightings) of(resource string) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { s.note(resource, "ADDED", object) },
		UpdateFunc: func(_, object any) {
			if resource == "configmaps" {
				s.note(resource, "MODIFIED", object)
			}
		},
		DeleteFunc: func(object any) { s.note(resource, "DELETED", object) },
	}
}

func (s *sightings) has(line string) bool {
	s.Lock()
	defer s.Unlock()
	return s.lines[line]
}

func (s *sightings) sorted() []string {
	s.Lock()
	defer s.Unlock()
	lines := []string{}
	for line := range s.lines {
		lines = append(lines, line)
	}
	sort.Strings(lines)
	return lines
}
