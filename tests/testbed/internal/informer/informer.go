// Package informer runs a client-go shared informer that prints the notifications of its handler, one JSON line each.
// kdelta's informer is compared with it.
package informer

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/features"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"kdelta.dev/testbed/internal/clients"
	"kdelta.dev/testbed/internal/process"
)

type informerOptions struct {
	kubeconfig, context     string
	resource, namespace     string
	selector, fieldSelector string
	mode                    string
	watchList               bool
	events, objects         bool
	untilSynced, stdinEnds  bool
	relists                 bool
}

// Run is the command informer.
func Run(ctx context.Context, args []string) error {
	before := process.TakeSample()
	o, err := parseInformerFlags(args)
	if err != nil {
		return err
	}
	features.ReplaceFeatureGates(watchListGate{Gates: features.FeatureGates(), enabled: o.watchList})
	if o.stdinEnds {
		ctx = process.EndWithStdin(ctx)
	}
	printer := newEventPrinter(os.Stdout, o.objects)
	relisting := func() {}
	if o.relists {
		relisting = printer.relisting
	}
	informer, err := newInformer(o, relisting)
	if err != nil {
		return err
	}
	handler := cache.ResourceEventHandler(cache.ResourceEventHandlerFuncs{})
	if o.events {
		handler = printer
	}
	registration, err := informer.AddEventHandler(handler)
	if err != nil {
		return err
	}
	if err := informer.SetWatchErrorHandlerWithContext(logWatchError); err != nil {
		return err
	}
	started := time.Now()
	go informer.RunWithContext(ctx)
	select {
	case <-ctx.Done():
		return printer.flush()
	case <-registration.HasSyncedChecker().Done():
	}
	printer.synced(time.Since(started), len(informer.GetStore().ListKeys()), before)
	if !o.untilSynced {
		<-ctx.Done()
	}
	return printer.flush()
}

// logWatchError logs like client-go's default, but ignores watches that end because this process ends.
func logWatchError(ctx context.Context, reflector *cache.Reflector, err error) {
	if ctx.Err() == nil {
		cache.DefaultWatchErrorHandler(ctx, reflector, err)
	}
}

// watchListGate is client-go's feature gates with one of them set.
type watchListGate struct {
	features.Gates
	enabled bool
}

func (g watchListGate) Enabled(key features.Feature) bool {
	if key == features.WatchListClient {
		return g.enabled
	}
	return g.Gates.Enabled(key)
}

func parseInformerFlags(args []string) (*informerOptions, error) {
	o := &informerOptions{}
	flags := pflag.NewFlagSet("informer", pflag.ContinueOnError)
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig file")
	flags.StringVar(&o.context, "context", "", "context of the kubeconfig (default: its current one)")
	flags.StringVar(&o.resource, "resource", "pods", "resource of the core group, or RESOURCE.VERSION.GROUP")
	flags.StringVarP(&o.namespace, "namespace", "n", "", "namespace to watch (default: all)")
	allNamespaces := flags.BoolP("all-namespaces", "A", false, "watch all namespaces (the default)")
	flags.StringVarP(&o.selector, "selector", "l", "", "label selector")
	flags.StringVar(&o.fieldSelector, "field-selector", "", "field selector")
	flags.StringVar(&o.mode, "mode", "dynamic", "dynamic (JSON, unstructured objects) or typed (protobuf)")
	flags.BoolVar(&o.watchList, "watch-list", true, "list by a watch, as client-go does by default")
	flags.BoolVar(&o.events, "events", true, "print events, not only the line for the sync")
	flags.BoolVar(&o.objects, "objects", false, "print whole objects")
	flags.BoolVar(&o.relists, "relists", false, "print a line for each list after the sync")
	flags.BoolVar(&o.untilSynced, "until-synced", false, "end once synced")
	flags.BoolVar(&o.stdinEnds, "stdin-ends", false, "end with standard input, unless it is a terminal")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if *allNamespaces {
		o.namespace = metav1.NamespaceAll
	}
	return o, nil
}

// newInformer returns the informer of the selected mode, which calls listing for each list.
func newInformer(o *informerOptions, listing func()) (cache.SharedIndexInformer, error) {
	config, err := clients.RESTConfig(o.kubeconfig, o.context)
	if err != nil {
		return nil, err
	}
	config.UserAgent += " " + o.mode
	resource := schema.GroupVersionResource{Version: "v1", Resource: o.resource}
	if full, _ := schema.ParseResourceArg(o.resource); full != nil {
		resource = *full
	}
	selectors := func(options *metav1.ListOptions) {
		options.LabelSelector, options.FieldSelector = o.selector, o.fieldSelector
		// client-go does not report the lists it makes after a version has expired. A watch that starts without a list
		// requests bookmarks, and no initial events.
		if options.SendInitialEvents != nil || !options.AllowWatchBookmarks {
			listing()
		}
	}
	switch o.mode {
	case "dynamic":
		return newDynamicInformer(config, resource, o.namespace, selectors)
	case "typed":
		return newTypedInformer(config, resource, o.namespace, selectors)
	default:
		return nil, fmt.Errorf("--mode is dynamic or typed, not %s", o.mode)
	}
}

func newDynamicInformer(config *rest.Config, resource schema.GroupVersionResource, namespace string, selectors func(*metav1.ListOptions)) (cache.SharedIndexInformer, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, namespace, selectors)
	return factory.ForResource(resource).Informer(), nil
}

func newTypedInformer(config *rest.Config, resource schema.GroupVersionResource, namespace string, selectors func(*metav1.ListOptions)) (cache.SharedIndexInformer, error) {
	config.ContentType = runtime.ContentTypeProtobuf
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0,
		informers.WithNamespace(namespace), informers.WithTweakListOptions(selectors))
	generic, err := factory.ForResource(resource)
	if err != nil {
		return nil, err
	}
	return generic.Informer(), nil
}
