// Package load fills a cluster with pods.
package load

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"kdelta.dev/testbed/internal/clients"
	"kdelta.dev/testbed/internal/workload"
)

type loadOptions struct {
	kubeconfig string
	pods       int
	namespaces int
	namespace  string
	prefix     string
	workloads  int
	parallel   int
	seed       uint64
}

// loadReport is the one line that load prints.
type loadReport struct {
	Namespaces int     `json:"namespaces"`
	Workloads  int     `json:"workloads"`
	Pods       int     `json:"pods"`
	Existing   int64   `json:"existing"`
	Seconds    float64 `json:"seconds"`
}

// loader creates the pods of one load.
type loader struct {
	client    kubernetes.Interface
	seed      uint64
	workloads []*workload.Workload
	existing  atomic.Int64
}

// Run is the command load.
func Run(ctx context.Context, args []string) error {
	o, err := parseLoadFlags(args)
	if err != nil {
		return err
	}
	client, err := clients.Typed(o.kubeconfig)
	if err != nil {
		return err
	}
	started := time.Now()
	namespaces := o.namespaceNames()
	if err := workload.CreateNamespaces(ctx, client, namespaces); err != nil {
		return err
	}
	l := &loader{client: client, seed: o.seed}
	for i := range o.workloads {
		l.workloads = append(l.workloads, workload.New(o.seed, i, namespaces[i%len(namespaces)]))
	}
	if err := inParallel(ctx, o.parallel, o.pods, l.createPod); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(loadReport{
		Namespaces: len(namespaces),
		Workloads:  len(l.workloads),
		Pods:       o.pods,
		Existing:   l.existing.Load(),
		Seconds:    time.Since(started).Seconds(),
	})
}

func parseLoadFlags(args []string) (*loadOptions, error) {
	o := &loadOptions{}
	flags := pflag.NewFlagSet("load", pflag.ContinueOnError)
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig file")
	flags.IntVar(&o.pods, "pods", 1000, "how many pods to create")
	flags.IntVar(&o.namespaces, "namespaces", 10, "how many namespaces to spread them over")
	flags.StringVarP(&o.namespace, "namespace", "n", "", "one namespace for all, instead")
	flags.StringVar(&o.prefix, "prefix", "load", "what the namespaces' names begin with")
	flags.IntVar(&o.workloads, "workloads", 300, "how many workloads the pods belong to")
	flags.IntVar(&o.parallel, "parallel", 16, "how many requests to have under way")
	flags.Uint64Var(&o.seed, "seed", 1, "the same seed makes the same pods")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if min(o.namespaces, o.workloads, o.parallel) < 1 {
		return nil, fmt.Errorf("--namespaces, --workloads and --parallel are at least 1")
	}
	return o, nil
}

func (o *loadOptions) namespaceNames() []string {
	if o.namespace != "" {
		return []string{o.namespace}
	}
	names := make([]string, o.namespaces)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%d", o.prefix, i)
	}
	return names
}

// createPod creates the index-th pod and reports its status, with two different field managers.
func (l *loader) createPod(ctx context.Context, index int) error {
	w := l.workloads[index%len(l.workloads)]
	pods := l.client.CoreV1().Pods(w.Namespace)
	pod, err := pods.Create(ctx, w.Pod(l.seed, index), metav1.CreateOptions{FieldManager: "kube-controller-manager"})
	if apierrors.IsAlreadyExists(err) {
		l.existing.Add(1)
		return nil
	}
	if err != nil {
		return err
	}
	workload.SetStatus(pod, l.seed, index)
	_, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{FieldManager: "kubelet"})
	return err
}

// inParallel calls do for 0 to count-1 with this many workers, and stops at the first error.
func inParallel(ctx context.Context, workers, count int, do func(context.Context, int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for ctx.Err() == nil {
				index := int(next.Add(1)) - 1
				if index >= count {
					return
				}
				if err := do(ctx, index); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}
