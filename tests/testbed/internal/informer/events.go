// The output lines of testbed informer.

package informer

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"kdelta.dev/testbed/internal/process"
	"kdelta.dev/testbed/internal/workload"
)

type eventLine struct {
	Type               string `json:"type"`
	Initial            bool   `json:"initial"`
	Namespace          string `json:"namespace"`
	Name               string `json:"name"`
	UID                string `json:"uid"`
	ResourceVersion    string `json:"resourceVersion"`
	OldResourceVersion string `json:"oldResourceVersion,omitempty"`
	Unchanged          bool   `json:"unchanged,omitempty"`
	Tombstone          bool   `json:"tombstone,omitempty"`
	Sent               string `json:"testbed/sent,omitempty"`
	Object             any    `json:"object,omitempty"`
}

type syncedLine struct {
	Type            string  `json:"type"`
	Seconds         float64 `json:"seconds"`
	Objects         int     `json:"objects"`
	RSSBytes        int64   `json:"rssBytes"`
	CPUSeconds      float64 `json:"cpuSeconds"`
	StartRSSBytes   int64   `json:"startRssBytes"`
	StartCPUSeconds float64 `json:"startCpuSeconds"`
}

type relistLine struct {
	Type string `json:"type"`
}

// eventPrinter is an event handler that writes and flushes a line for each call.
type eventPrinter struct {
	mu       sync.Mutex
	out      *bufio.Writer
	objects  bool
	isSynced atomic.Bool
}

var _ cache.ResourceEventHandler = &eventPrinter{}

func newEventPrinter(out io.Writer, objects bool) *eventPrinter {
	return &eventPrinter{out: bufio.NewWriterSize(out, 64<<10), objects: objects}
}

func (p *eventPrinter) OnAdd(obj any, isInInitialList bool) {
	line := p.describe("ADDED", obj)
	line.Initial = isInInitialList
	p.print(line)
}

func (p *eventPrinter) OnUpdate(oldObj, newObj any) {
	line := p.describe("MODIFIED", newObj)
	line.OldResourceVersion = oldObj.(metav1.Object).GetResourceVersion()
	line.Unchanged = line.OldResourceVersion == line.ResourceVersion
	p.print(line)
}

func (p *eventPrinter) OnDelete(obj any) {
	tombstone, isTombstone := obj.(cache.DeletedFinalStateUnknown)
	if isTombstone {
		obj = tombstone.Obj
	}
	line := p.describe("DELETED", obj)
	line.Tombstone = isTombstone
	p.print(line)
}

func (p *eventPrinter) describe(kind string, obj any) *eventLine {
	meta := obj.(metav1.Object)
	line := &eventLine{
		Type:            kind,
		Namespace:       meta.GetNamespace(),
		Name:            meta.GetName(),
		UID:             string(meta.GetUID()),
		ResourceVersion: meta.GetResourceVersion(),
		Sent:            meta.GetAnnotations()[workload.SentAnnotation],
	}
	if p.objects {
		line.Object = obj
	}
	return line
}

// synced prints the line for the end of the first list; start is the sample before it.
func (p *eventPrinter) synced(took time.Duration, objects int, start process.Sample) {
	now := process.TakeSample()
	p.isSynced.Store(true)
	p.print(&syncedLine{
		Type:            "SYNCED",
		Seconds:         took.Seconds(),
		Objects:         objects,
		RSSBytes:        now.PeakRSS,
		CPUSeconds:      now.CPU.Seconds(),
		StartRSSBytes:   start.PeakRSS,
		StartCPUSeconds: start.CPU.Seconds(),
	})
}

// relisting prints a line for a later list: the notifications after it may leave out intermediate changes.
func (p *eventPrinter) relisting() {
	if p.isSynced.Load() {
		p.print(&relistLine{Type: "RELISTING"})
	}
}

func (p *eventPrinter) print(line any) {
	encoded, err := json.Marshal(line)
	if err != nil {
		panic(err) // the lines above and Kubernetes' own objects are JSON by construction
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = p.out.Write(append(encoded, '\n'))
	if err := p.out.Flush(); err != nil {
		os.Exit(1) // the reader is gone
	}
}

func (p *eventPrinter) flush() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.Flush()
}
