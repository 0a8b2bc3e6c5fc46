// The kube-apiserver: its flags, its logs, and the check that its start is complete.

package server

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"time"

	"github.com/spf13/pflag"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"

	"kdelta.dev/testbed/internal/clients"
)

// Ports are drawn below the range of ephemeral ports, so a restarted server finds its port free.
const firstPort, lastPort = 20000, 32000

// startTimeout bounds the wait for a usable server.
const startTimeout = 2 * time.Minute

// listen opens the given loopback port, or a free one if it is 0.
func listen(port int) (net.Listener, error) {
	if port != 0 {
		return net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	}
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		if listener, err := net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			return listener, nil
		}
	}
	return net.Listen("tcp4", "127.0.0.1:0")
}

func portOf(listener net.Listener) int { return listener.Addr().(*net.TCPAddr).Port }

func serverFlags(s *state, etcd string) []string {
	return []string{
		"--etcd-servers=" + etcd,
		"--tls-cert-file=" + s.path(serverCert),
		"--tls-private-key-file=" + s.path(serverKey),
		"--client-ca-file=" + s.path(caCert),
		"--token-auth-file=" + s.path(tokenFile),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + s.path(serviceAccountKey),
		"--service-account-signing-key-file=" + s.path(serviceAccountKey),
		"--authorization-mode=RBAC",
		"--service-cluster-ip-range=10.0.0.0/24",
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none",
		"--disable-admission-plugins=ServiceAccount",
		"--allow-privileged",
		"--profiling=false",
		"--shutdown-delay-duration=0",
	}
}

// runServer runs the API server on the listener until ctx is done.
func runServer(ctx context.Context, s *state, listener net.Listener, etcd string, extra []string) error {
	server := options.NewServerRunOptions()
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, set := range server.Flags().FlagSets {
		flags.AddFlagSet(set)
	}
	if err := flags.Parse(append(serverFlags(s, etcd), extra...)); err != nil {
		return err
	}
	server.SecureServing.Listener = listener
	server.SecureServing.BindPort = s.Port
	if err := server.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return err
	}
	if err := logToFile(s.path(serverLog), server.Logs); err != nil {
		return err
	}
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	completed, err := server.Complete(ctx)
	if err != nil {
		return err
	}
	if errs := completed.Validate(); len(errs) != 0 {
		return utilerrors.NewAggregate(errs)
	}
	return app.Run(ctx, completed)
}

// logToFile sends the server's log to a file; -v among the extra flags makes it more verbose.
func logToFile(path string, config *logsapi.LoggingConfiguration) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	streams := &logsapi.LoggingOptions{ErrorStream: file, InfoStream: file}
	return logsapi.ValidateAndApplyWithOptions(config, streams, utilfeature.DefaultFeatureGate)
}

// waitReady returns once the server is healthy, has its first namespaces, authorizes the reader and trusts the issuer.
func waitReady(ctx context.Context, s *state, issuer *issuer) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	admin, err := s.client("admin")
	if err != nil {
		return err
	}
	reader, err := s.client("reader")
	if err != nil {
		return err
	}
	poll := func(check func(context.Context) bool) error {
		return wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(ctx context.Context) (bool, error) {
			return check(ctx), nil
		})
	}
	if err := poll(func(ctx context.Context) bool {
		_, err := admin.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		return err == nil
	}); err != nil {
		return err
	}
	if err := poll(func(ctx context.Context) bool {
		_, err := admin.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
		return err == nil
	}); err != nil {
		return err
	}
	if err := grantReader(ctx, admin); err != nil {
		return err
	}
	byToken, err := s.clientOf(issuer)
	if err != nil {
		return err
	}
	return poll(func(ctx context.Context) bool {
		for _, client := range []kubernetes.Interface{reader, byToken} {
			if _, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{Limit: 1}); err != nil {
				return false
			}
		}
		return true
	})
}

// grantReader lets the user reader read everything and change nothing.
func grantReader(ctx context.Context, admin kubernetes.Interface) error {
	meta := metav1.ObjectMeta{Name: "testbed:reader"}
	role := &rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch"}},
	}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "reader"}},
	}
	if _, err := admin.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	if _, err := admin.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

// clientOf returns a client with a token of the issuer for the reader.
func (s *state) clientOf(issuer *issuer) (kubernetes.Interface, error) {
	config, err := clients.RESTConfig(s.path(kubeconfigFile), "reader")
	if err != nil {
		return nil, err
	}
	config.BearerToken, err = issuer.sign(grant{user: "reader", life: startTimeout})
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

// client returns a client of the served state for one of its users.
func (s *state) client(user string) (kubernetes.Interface, error) {
	config, err := clients.RESTConfig(s.path(kubeconfigFile), user)
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}
