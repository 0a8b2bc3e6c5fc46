// Package churn changes objects at a steady rate.
package churn

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"

	"kdelta.dev/testbed/internal/clients"
	"kdelta.dev/testbed/internal/workload"
)

const (
	// maxPending bounds the pending operations on a slow server; beyond it the rate falls.
	maxPending = 256
	// initialObjects is the number of objects of a kind that churn creates if it finds none.
	initialObjects = 50
)

type churnOptions struct {
	kubeconfig string
	prefix     string
	namespaces []string
	kinds      []string
	rate       float64
	duration   time.Duration
	seed       uint64
}

// churnReport is the one line that churn prints.
type churnReport struct {
	Operations map[operation]int `json:"operations"`
	Failures   int               `json:"failures"`
	Seconds    float64           `json:"seconds"`
}

// Run is the command churn.
func Run(ctx context.Context, args []string) error {
	o, err := parseChurnFlags(args)
	if err != nil {
		return err
	}
	client, err := clients.Typed(o.kubeconfig)
	if err != nil {
		return err
	}
	herd, err := gather(ctx, client, o)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(herd.run(ctx, o.rate, o.duration))
}

func parseChurnFlags(args []string) (*churnOptions, error) {
	o := &churnOptions{}
	flags := pflag.NewFlagSet("churn", pflag.ContinueOnError)
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig file")
	flags.StringVar(&o.prefix, "namespaces", "load", "what the namespaces' names begin with")
	flags.StringSliceVarP(&o.namespaces, "namespace", "n", nil, "these namespaces instead, separated by commas")
	flags.Float64Var(&o.rate, "rate", 10, "operations a second")
	flags.DurationVar(&o.duration, "duration", 10*time.Second, "for how long")
	flags.Uint64Var(&o.seed, "seed", 1, "the same seed draws the same operations")
	flags.StringSliceVar(&o.kinds, "kinds", []string{"pods"}, "what to change: pods, configmaps, secrets")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	for _, kind := range o.kinds {
		if !slices.Contains([]string{"pods", "configmaps", "secrets"}, kind) {
			return nil, fmt.Errorf("--kinds knows pods, configmaps and secrets, not %s", kind)
		}
	}
	if o.rate <= 0 {
		return nil, fmt.Errorf("--rate is above 0")
	}
	return o, nil
}

// gather lists the objects to change, and creates some of each kind without objects.
func gather(ctx context.Context, client kubernetes.Interface, o *churnOptions) (*herd, error) {
	namespaces, err := o.findNamespaces(ctx, client)
	if err != nil {
		return nil, err
	}
	h := newHerd(client, o.kinds, o.seed)
	for i := range namespaces {
		h.workloads = append(h.workloads, workload.New(o.seed, i, namespaces[i]))
	}
	for _, kind := range o.kinds {
		before := len(h.alive)
		for _, namespace := range namespaces {
			if err := h.find(ctx, kind, namespace); err != nil {
				return nil, err
			}
		}
		if len(h.alive) > before {
			continue
		}
		for range initialObjects {
			if err := h.perform(ctx, h.newObject(kind)); err != nil {
				return nil, err
			}
		}
	}
	return h, nil
}

// find adds a namespace's objects of a kind.
func (h *herd) find(ctx context.Context, kind, namespace string) error {
	any := &metav1.ListOptions{ResourceVersion: "0"}
	list, err := h.client.Get().Namespace(namespace).Resource(kind).VersionedParams(any, scheme.ParameterCodec).Do(ctx).Get()
	if err != nil {
		return err
	}
	return meta.EachListItem(list, func(item runtime.Object) error {
		found, err := meta.Accessor(item)
		if err == nil {
			h.alive = append(h.alive, objectKey{kind, namespace, found.GetName()})
		}
		return err
	})
}

// findNamespaces returns the named namespaces, or those with the prefix, or a new one with the prefix.
func (o *churnOptions) findNamespaces(ctx context.Context, client kubernetes.Interface) ([]string, error) {
	if len(o.namespaces) > 0 {
		return o.namespaces, workload.CreateNamespaces(ctx, client, o.namespaces)
	}
	all, err := client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var names []string
	for i := range all.Items {
		if strings.HasPrefix(all.Items[i].Name, o.prefix) {
			names = append(names, all.Items[i].Name)
		}
	}
	if len(names) == 0 {
		names = []string{o.prefix + "-0"}
	}
	return names, workload.CreateNamespaces(ctx, client, names)
}

// run performs operations at the rate until the duration is over, each in its own goroutine so that a slow one delays
// no other. A slow server gets fewer operations: the duration is fixed, not their number.
func (h *herd) run(ctx context.Context, rate float64, duration time.Duration) churnReport {
	started := time.Now()
	interval := time.Duration(float64(time.Second) / rate)
	count := int(duration.Seconds() * rate)
	slots := make(chan struct{}, maxPending)
	var group sync.WaitGroup
	for i := range count {
		if !sleepUntil(ctx, started.Add(time.Duration(i)*interval)) {
			break
		}
		slots <- struct{}{}
		if time.Since(started) >= duration {
			break
		}
		task := h.draw(drawOperation(h.rng))
		group.Go(func() {
			h.record(task.operation, h.perform(context.WithoutCancel(ctx), task))
			<-slots
		})
	}
	group.Wait()
	return churnReport{Operations: h.counts, Failures: h.failures, Seconds: time.Since(started).Seconds()}
}

// sleepUntil returns false if ctx ended first.
func sleepUntil(ctx context.Context, moment time.Time) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(time.Until(moment)):
		return ctx.Err() == nil
	}
}
