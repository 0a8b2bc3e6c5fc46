// Command tree-by-lists prints the objects below one object as kubectl-tree finds them: it lists all objects of every
// type with namespaces with a dynamic client, in pages of 250, all types at the same time, and follows their owner
// references.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const pageSize = 250

// collection is a type whose objects can be listed.
type collection struct {
	resource   schema.GroupVersionResource
	namespaced bool
}

// collections returns the types in their preferred versions.
func collections(client discovery.DiscoveryInterface) ([]collection, error) {
	groups, err := client.ServerPreferredResources()
	if err != nil {
		return nil, err
	}
	var found []collection
	for _, group := range groups {
		version, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, resource := range group.APIResources {
			if strings.Contains(" "+strings.Join(resource.Verbs, " ")+" ", " list ") {
				found = append(found, collection{version.WithResource(resource.Name), resource.Namespaced})
			}
		}
	}
	return found, nil
}

// list returns all objects of a type in the namespace.
func list(client dynamic.Interface, of collection, namespace string) ([]unstructured.Unstructured, error) {
	var objects []unstructured.Unstructured
	in := client.Resource(of.resource).Namespace(namespace)
	for next := ""; ; {
		page, err := in.List(context.Background(), metav1.ListOptions{Limit: pageSize, Continue: next})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", of.resource, err)
		}
		objects = append(objects, page.Items...)
		if next = page.GetContinue(); next == "" {
			return objects, nil
		}
	}
}

// listAll lists all types with namespaces at the same time.
func listAll(client dynamic.Interface, all []collection, namespace string) ([]unstructured.Unstructured, error) {
	var (
		lock    sync.Mutex
		waiting sync.WaitGroup
		objects []unstructured.Unstructured
		failed  error
	)
	for _, of := range all {
		if !of.namespaced {
			continue
		}
		waiting.Go(func() {
			found, err := list(client, of, namespace)
			lock.Lock()
			defer lock.Unlock()
			objects = append(objects, found...)
			if err != nil {
				failed = err
			}
		})
	}
	waiting.Wait()
	return objects, failed
}

// ready returns the status of the condition Ready.
func ready(object unstructured.Unstructured) string {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, condition := range conditions {
		if fields, ok := condition.(map[string]any); ok && fields["type"] == "Ready" {
			return fmt.Sprint(fields["status"])
		}
	}
	return "-"
}

// print writes an object and all that it owns.
func print(object unstructured.Unstructured, owned map[types.UID][]unstructured.Unstructured, indent string) {
	fmt.Printf("%s%s/%s %s\n", indent, object.GetKind(), object.GetName(), ready(object))
	children := owned[object.GetUID()]
	sort.Slice(children, func(i, j int) bool {
		return children[i].GetKind()+children[i].GetName() < children[j].GetKind()+children[j].GetName()
	})
	for _, child := range children {
		print(child, owned, indent+"  ")
	}
}

func run(kubeconfig, namespace, resource, name string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 1000, 1000
	config.WarningHandler = rest.NoWarnings{}
	config.UserAgent = "tree-by-lists"
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	discoverer, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	all, err := collections(discoverer)
	if err != nil {
		return err
	}
	for _, of := range all {
		if of.resource.Resource != resource {
			continue
		}
		root, err := client.Resource(of.resource).Namespace(namespace).Get(context.Background(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		objects, err := listAll(client, all, namespace)
		if err != nil {
			return err
		}
		owned := map[types.UID][]unstructured.Unstructured{}
		for _, object := range objects {
			for _, owner := range object.GetOwnerReferences() {
				owned[owner.UID] = append(owned[owner.UID], object)
			}
		}
		print(*root, owned, "")
		return nil
	}
	return fmt.Errorf("no type %s", resource)
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the kubeconfig")
	namespace := flag.String("n", "default", "the namespace of the object")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: tree-by-lists --kubeconfig FILE -n NAMESPACE RESOURCE NAME")
		os.Exit(2)
	}
	if err := run(*kubeconfig, *namespace, flag.Arg(0), flag.Arg(1)); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
