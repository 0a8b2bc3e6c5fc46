// Package browse sends the requests of an interactive cluster browser with client-go, and prints the responses. The
// transcript contains nothing that a server generates: two servers with equal responses have equal transcripts.
package browse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"kdelta.dev/testbed/internal/clients"
)

// browser is the session of an interactive browser, in its own namespace.
type browser struct {
	out       io.Writer
	namespace string
	config    *rest.Config
	// typed uses protobuf, as interactive clients do.
	typed   kubernetes.Interface
	dynamic dynamic.Interface
}

// browsing is the steps of the browser in order: later steps use objects of earlier ones.
var browsing = []struct {
	name string
	do   func(*browser, context.Context) error
}{
	{"version", (*browser).askVersion},
	{"discovery", (*browser).discover},
	{"rights", (*browser).askRights},
	{"what is not there", (*browser).requestMissing},
	{"a kind of its own", (*browser).defineKind},
	{"objects", (*browser).create},
	{"tables", (*browser).readTables},
	{"yaml", (*browser).readWhole},
	{"an event", (*browser).createEvent},
	{"events", (*browser).readEvents},
	{"following", (*browser).follow},
	{"patches", (*browser).patch},
	{"scale", (*browser).scale},
	{"updates", (*browser).update},
	{"a run by hand", (*browser).trigger},
	{"deletions", (*browser).delete},
}

// Run is the command browse.
func Run(ctx context.Context, args []string) error {
	flags := pflag.NewFlagSet("browse", pflag.ContinueOnError)
	kubeconfig := flags.String("kubeconfig", "", "kubeconfig file")
	namespace := flags.StringP("namespace", "n", "browse", "namespace to make and to work in")
	before := flags.String("before", "", "the step before which to end; default: after the last one")
	only := flags.StringSlice("only", nil, "the steps; default: all")
	if err := flags.Parse(args); err != nil {
		return err
	}
	b, err := newBrowser(*kubeconfig, *namespace)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for _, step := range browsing {
		if *before != "" && step.name == *before {
			return nil
		}
		if len(*only) > 0 && !slices.Contains(*only, step.name) {
			continue
		}
		fmt.Fprintf(b.out, "== %s\n", step.name)
		if err := step.do(b, ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
}

func newBrowser(kubeconfig, namespace string) (*browser, error) {
	config, err := clients.RESTConfig(kubeconfig, "")
	if err != nil {
		return nil, err
	}
	config.WarningHandler = rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	protobuf := rest.CopyConfig(config)
	protobuf.ContentType = runtime.ContentTypeProtobuf
	protobuf.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	typed, err := kubernetes.NewForConfig(protobuf)
	if err != nil {
		return nil, err
	}
	return &browser{os.Stdout, namespace, config, typed, client}, nil
}

// accidental is the texts that differ between any two servers.
var accidental = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:.]+Z`), "TIME"},
	{regexp.MustCompile(`\b\d+s\b|<unknown>|<invalid>`), "AGE"},
	{regexp.MustCompile(`\b10\.\d+\.\d+\.\d+\b`), "ADDRESS"},
}

// say prints one line.
func (b *browser) say(format string, args ...any) {
	line := strings.ReplaceAll(fmt.Sprintf(format, args...), b.namespace, "NAMESPACE")
	for _, each := range accidental {
		line = each.pattern.ReplaceAllString(line, each.instead)
	}
	fmt.Fprintln(b.out, line)
}

// report prints the result of an operation, with the server's message if it failed.
func (b *browser) report(what string, err error) {
	var status apierrors.APIStatus
	switch {
	case err == nil:
		b.say("%s: done", what)
	case errors.As(err, &status):
		b.say("%s: %d %s: %s", what, status.Status().Code, status.Status().Reason, status.Status().Message)
	default:
		b.say("%s: %v", what, err)
	}
}

// text returns a value as JSON with sorted keys.
func text(value any) string {
	bytes, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(bytes)
}

func (b *browser) askVersion(context.Context) error {
	version, err := b.typed.Discovery().ServerVersion()
	if err != nil {
		return err
	}
	b.say("%s.%s", version.Major, version.Minor)
	return nil
}

// viewed is the resources that a browser has a view for, with its verbs; events of the newer group are only read
// everywhere.
var viewed = []struct{ group, version, resource, verbs string }{
	{"", "v1", "configmaps", "create delete get list patch update watch"},
	{"", "v1", "events", "delete get list watch"},
	{"", "v1", "namespaces", "create delete get list patch update watch"},
	{"", "v1", "nodes", "get list patch watch"},
	{"", "v1", "persistentvolumeclaims", "delete get list patch update watch"},
	{"", "v1", "pods", "create delete get list patch update watch"},
	{"", "v1", "secrets", "create delete get list patch update watch"},
	{"", "v1", "services", "create delete get list patch update watch"},
	{"apps", "v1", "daemonsets", "create delete get list patch update watch"},
	{"apps", "v1", "deployments", "create delete get list patch update watch"},
	{"apps", "v1", "replicasets", "create delete get list patch update watch"},
	{"apps", "v1", "statefulsets", "create delete get list patch update watch"},
	{"events.k8s.io", "v1", "events", "delete get list watch"},
	{"autoscaling", "v1", "horizontalpodautoscalers", "delete get list watch"},
	{"autoscaling", "v2", "horizontalpodautoscalers", "create delete get list patch update watch"},
	{"batch", "v1", "cronjobs", "create delete get list patch update watch"},
	{"batch", "v1", "jobs", "create delete get list patch update watch"},
	{"networking.k8s.io", "v1", "ingresses", "create delete get list patch update watch"},
	{"policy", "v1", "poddisruptionbudgets", "create delete get list patch update watch"},
	{"rbac.authorization.k8s.io", "v1", "rolebindings", "create delete get list patch update watch"},
	{"storage.k8s.io", "v1", "storageclasses", "get list watch"},
	{"apiextensions.k8s.io", "v1", "customresourcedefinitions", "create delete get list patch update watch"},
}

// discover reads aggregated and separate discovery, and prints whether both are equal.
func (b *browser) discover(context.Context) error {
	client, err := discovery.NewDiscoveryClientForConfig(b.config)
	if err != nil {
		return err
	}
	var ways [2]map[string]string
	for i := range ways {
		client.UseLegacyDiscovery = i == 1
		if ways[i], err = servedBy(client); err != nil {
			return err
		}
	}
	for _, view := range viewed {
		name := schema.GroupVersionResource{Group: view.group, Version: view.version, Resource: view.resource}.String()
		found := strings.SplitN(ways[0][name], "|", 2)
		verbs := " " + found[len(found)-1] + " "
		missing := []string{}
		for _, verb := range strings.Fields(view.verbs) {
			if !strings.Contains(verbs, " "+verb+" ") {
				missing = append(missing, verb)
			}
		}
		b.say("%s: %s, missing %v, same both ways %t", name, found[0], missing, ways[0][name] == ways[1][name])
	}
	return nil
}

// servedBy returns the served types: kind, scope, short names and verbs.
func servedBy(client discovery.DiscoveryInterface) (map[string]string, error) {
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, resource := range list.APIResources {
			verbs := append([]string{}, resource.Verbs...)
			sort.Strings(verbs)
			found[version.WithResource(resource.Name).String()] = fmt.Sprintf("%s %s namespaced=%t %v|%s", resource.Kind,
				resource.SingularName, resource.Namespaced, resource.ShortNames, strings.Join(verbs, " "))
		}
	}
	return found, nil
}
