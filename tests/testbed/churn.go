// testbed churn: changes pods at a steady rate.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

const (
	// underWay bounds the operations a slow server leaves open; beyond it the rate falls.
	underWay = 256
	// firstPods is how many pods churn makes for itself where it finds none.
	firstPods = 50
)

type churnOptions struct {
	kubeconfig string
	prefix     string
	namespaces []string
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

func churn(ctx context.Context, args []string) error {
	o, err := parseChurnFlags(args)
	if err != nil {
		return err
	}
	client, err := typedClient(o.kubeconfig)
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
	kinds := flags.String("kinds", "pods", "what to change: pods")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if *kinds != "pods" {
		return nil, fmt.Errorf("--kinds knows pods only, not %s", *kinds)
	}
	if o.rate <= 0 {
		return nil, fmt.Errorf("--rate is above 0")
	}
	return o, nil
}

// gather lists the pods to change, and makes some where there are none.
func gather(ctx context.Context, client kubernetes.Interface, o *churnOptions) (*herd, error) {
	namespaces, err := o.findNamespaces(ctx, client)
	if err != nil {
		return nil, err
	}
	h := newHerd(client, o.seed)
	for _, namespace := range namespaces {
		pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return nil, err
		}
		for i := range pods.Items {
			h.alive = append(h.alive, podKey{namespace, pods.Items[i].Name})
		}
	}
	for i := range namespaces {
		h.workloads = append(h.workloads, newWorkload(o.seed, i, namespaces[i]))
	}
	if len(h.alive) > 0 {
		return h, nil
	}
	for range firstPods {
		if err := h.perform(ctx, h.draw(createPod)); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// findNamespaces is the namespaces asked for by name, or those that begin with the prefix, or a first one of that prefix.
func (o *churnOptions) findNamespaces(ctx context.Context, client kubernetes.Interface) ([]string, error) {
	if len(o.namespaces) > 0 {
		return o.namespaces, createNamespaces(ctx, client, o.namespaces)
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
	return names, createNamespaces(ctx, client, names)
}

// run performs operations at the rate until the duration is over, each on its own so that a slow one delays no other.
func (h *herd) run(ctx context.Context, rate float64, duration time.Duration) churnReport {
	started := time.Now()
	interval := time.Duration(float64(time.Second) / rate)
	count := int(duration.Seconds() * rate)
	slots := make(chan struct{}, underWay)
	var group sync.WaitGroup
	for i := range count {
		if !sleepUntil(ctx, started.Add(time.Duration(i)*interval)) {
			break
		}
		slots <- struct{}{}
		task := h.draw(drawOperation(h.rng))
		group.Go(func() {
			h.record(task.operation, h.perform(context.WithoutCancel(ctx), task))
			<-slots
		})
	}
	group.Wait()
	return churnReport{Operations: h.counts, Failures: h.failures, Seconds: time.Since(started).Seconds()}
}

// sleepUntil is false when ctx ended first.
func sleepUntil(ctx context.Context, moment time.Time) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(time.Until(moment)):
		return ctx.Err() == nil
	}
}
