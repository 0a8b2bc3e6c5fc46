package pacing

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

const (
	hours = 4
	// most bounds the requests of one scenario: client-go watches again at once after a clean end, however short the watch.
	most = 20_000
)

var write = flag.Bool("write", false, "write scenarios.json and client-go.json")

// figures is the number of client-go's requests in the hours of one scenario.
type figures struct {
	Lists   int `json:"lists"`
	Watches int `json:"watches"`
	// Stopped is true if the run ended at `most` requests.
	Stopped bool `json:"stopped"`
}

// TestPacing runs client-go's Reflector on every scenario, on the virtual time of a bubble.
func TestPacing(t *testing.T) {
	// The handlers log, and rate-limit that by sleeping, which fails across bubbles with different times.
	utilruntime.ErrorHandlers = nil
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	all := draw()
	compare(t, "scenarios.json", all)
	report := struct {
		Hours     int       `json:"hours"`
		Most      int       `json:"most"`
		Scenarios []figures `json:"scenarios"`
	}{Hours: hours, Most: most}
	for _, s := range all {
		synctest.Test(t, func(t *testing.T) { report.Scenarios = append(report.Scenarios, run(t.Context(), s)) })
	}
	if *write {
		store(t, "client-go.json", report)
	}
}

func compare(t *testing.T, name string, value any) {
	if *write {
		store(t, name, value)
	}
	committed, err := os.ReadFile(name)
	if err != nil || string(committed) != encode(t, value) {
		t.Fatalf("%s is not what is drawn (%v): run with -write", name, err)
	}
}

func store(t *testing.T, name string, value any) {
	if err := os.WriteFile(name, []byte(encode(t, value)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func encode(t *testing.T, value any) string {
	text, err := json.MarshalIndent(value, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

func run(ctx context.Context, s scenario) figures {
	ctx, cancel := context.WithTimeout(ctx, hours*time.Hour)
	defer cancel()
	source := &source{scenario: s, stop: cancel, version: 1}
	reflector := cache.NewReflectorWithOptions(source, nil, cache.NewStore(cache.MetaNamespaceKeyFunc), cache.ReflectorOptions{Name: "pacing"})
	reflector.RunWithContext(ctx)
	// A list continues after its reflector has ended.
	time.Sleep(time.Minute)
	source.mutex.Lock()
	defer source.mutex.Unlock()
	return source.asked
}

// source follows the scripts of its scenario.
type source struct {
	scenario scenario
	stop     context.CancelFunc
	mutex    sync.Mutex
	asked    figures
	version  int
}

// client-go calls IsWatchListSemanticsUnSupported first.
func (s *source) IsWatchListSemanticsUnSupported() bool { return !s.scenario.WatchList }

func (s *source) count(counter *int) (int, bool) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.asked.Lists+s.asked.Watches == most {
		s.asked.Stopped = true
		s.stop()
		return 0, false
	}
	*counter++
	return *counter - 1, true
}

func (s *source) List(metav1.ListOptions) (runtime.Object, error) {
	number, ok := s.count(&s.asked.Lists)
	if !ok {
		return nil, context.Canceled
	}
	step := s.scenario.Lists[number%len(s.scenario.Lists)]
	time.Sleep(time.Duration(step.Millis) * time.Millisecond)
	if step.Error != "" {
		return nil, failure(step.Error)
	}
	list := &corev1.ConfigMapList{Items: []corev1.ConfigMap{*s.object(0)}}
	list.ResourceVersion = list.Items[0].ResourceVersion
	return list, nil
}

func (s *source) Watch(options metav1.ListOptions) (watch.Interface, error) {
	number, ok := s.count(&s.asked.Watches)
	if !ok {
		return nil, context.Canceled
	}
	step := s.scenario.Watches[number%len(s.scenario.Watches)]
	if step.Start != "" {
		return nil, failure(step.Start)
	}
	stream := &stream{events: make(chan watch.Event), stopped: make(chan struct{})}
	go s.play(stream, step, options)
	return stream, nil
}

func (s *source) play(stream *stream, step watchStep, options metav1.ListOptions) {
	defer close(stream.events)
	if options.SendInitialEvents != nil && *options.SendInitialEvents {
		stream.send(watch.Event{Type: watch.Added, Object: s.object(0)})
		if !step.Unfinished {
			end := s.object(0)
			end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
			stream.send(watch.Event{Type: watch.Bookmark, Object: end})
		}
	}
	for range step.Events {
		stream.send(watch.Event{Type: watch.Modified, Object: s.object(1)})
	}
	if step.Bookmark {
		stream.send(watch.Event{Type: watch.Bookmark, Object: s.object(0)})
	}
	lives, end := time.Duration(step.Millis)*time.Millisecond, step.End
	if timeout := time.Duration(*options.TimeoutSeconds) * time.Second; timeout <= lives {
		lives, end = timeout, ""
	}
	select {
	case <-time.After(lives):
	case <-stream.stopped:
	}
	// client-go treats a broken connection like a stream that the server has ended.
	if end != "" && end != "cut" {
		var status apierrors.APIStatus
		errors.As(failure(end), &status)
		object := status.Status()
		stream.send(watch.Event{Type: watch.Error, Object: &object})
	}
}

// object returns the only object, after this many changes.
func (s *source) object(changes int) *corev1.ConfigMap {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.version += changes
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: strconv.Itoa(s.version)}}
}

type stream struct {
	events  chan watch.Event
	stopped chan struct{}
	once    sync.Once
}

func (s *stream) Stop() { s.once.Do(func() { close(s.stopped) }) }

func (s *stream) ResultChan() <-chan watch.Event { return s.events }

func (s *stream) send(event watch.Event) {
	select {
	case s.events <- event:
	case <-s.stopped:
	}
}

// failure returns an error as client-go's clients do.
func failure(name string) error {
	resource := schema.GroupResource{Resource: "configmaps"}
	switch name {
	case "410":
		return apierrors.NewResourceExpired("too old")
	case "500":
		return apierrors.NewInternalError(errors.New("broken"))
	case "429":
		return apierrors.NewTooManyRequestsError("too many")
	case "503":
		return apierrors.NewServiceUnavailable("unavailable")
	case "401":
		return apierrors.NewUnauthorized("who")
	case "403":
		return apierrors.NewForbidden(resource, "", errors.New("no"))
	case "404":
		return apierrors.NewNotFound(resource, "")
	case "tooLarge":
		large := apierrors.NewTimeoutError("Too large resource version", 0)
		large.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
		return large
	case "decode":
		object := apierrors.NewClientErrorReporter(500, "GET", "ClientWatchDecoding").AsObject(errors.New("unable to decode"))
		return apierrors.FromObject(object)
	case "refused":
		return &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	case "html":
		return errors.New("invalid character '<' looking for beginning of value")
	case "cut":
		return io.ErrUnexpectedEOF
	}
	panic(name)
}
