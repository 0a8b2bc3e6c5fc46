// Package server runs a kube-apiserver with its etcd in this process, and the OpenID Connect issuer and the proxy in
// front of it that tests of logins need. It also makes client certificates for such a server.
//
// This file starts the parts, prints their addresses, and stops them.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/embed"

	"kdelta.dev/testbed/internal/process"
	"kdelta.dev/testbed/internal/version"
)

// drainTimeout bounds the wait for open requests at the end.
const drainTimeout = 500 * time.Millisecond

// announcement is the one line that serve prints.
type announcement struct {
	Kubeconfig string            `json:"kubeconfig"`
	Server     string            `json:"server"`
	Version    string            `json:"version"`
	CAFile     string            `json:"caFile"`
	ClientCert string            `json:"clientCert"`
	ClientKey  string            `json:"clientKey"`
	State      string            `json:"state"`
	Tokens     map[string]string `json:"tokens"`
	Issuer     string            `json:"issuer"`
	IssuerKey  string            `json:"clientSecret"`
	Front      string            `json:"front"`
	Password   string            `json:"password"`
	PID        int               `json:"pid"`
}

// Serve is the command serve.
func Serve(ctx context.Context, args []string) error {
	flags := pflag.NewFlagSet("serve [flags] [-- kube-apiserver flags]", pflag.ContinueOnError)
	dir := flags.String("state", "", "directory that holds everything and survives restarts (default: a temporary one)")
	port := flags.Int("port", 0, "port of the API server (default: the one of the state directory, or a free one)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	version, err := version.SetFrom("k8s.io/kubernetes")
	if err != nil {
		return err
	}
	s, err := openState(*dir)
	if err != nil {
		return err
	}
	if *port != 0 {
		s.Port = *port
	}
	ctx = process.EndWithStdin(ctx)
	return errors.Join(serveState(ctx, s, version, flags.Args()), s.close())
}

// serveState runs both servers on an open state directory until ctx is done.
func serveState(ctx context.Context, s *state, version string, extra []string) error {
	listener, err := listen(s.Port)
	if err != nil {
		return err
	}
	s.Port = portOf(listener)
	if err := s.save(); err != nil {
		return err
	}
	etcd, address, err := startEtcd(s)
	if err != nil {
		return err
	}
	defer stopEtcd(etcd)

	issuer, err := startIssuer(s)
	if err != nil {
		return err
	}
	front, err := startFront(s)
	if err != nil {
		return err
	}
	ended, stop := startServer(s, listener, address, append(issuer.flags(s), extra...))
	started := make(chan error, 1)
	go func() { started <- waitReady(ctx, s, issuer) }()
	select {
	case err := <-ended:
		return err
	case err := <-started:
		if ctx.Err() != nil {
			return nil // a server stopped in the middle of its start would end the process with a failure
		}
		if err != nil {
			return fmt.Errorf("the API server does not become ready, see %s: %w", s.path(serverLog), err)
		}
	}
	if err := s.announce(version, issuer, front); err != nil {
		return err
	}
	select {
	case err := <-ended:
		return fmt.Errorf("the API server ended by itself, see %s: %w", s.path(serverLog), err)
	case <-ctx.Done():
		stop()
		return drain(ended)
	}
}

// startServer runs the API server in a goroutine; it returns the channel of its end, and the function that stops it.
func startServer(s *state, listener net.Listener, etcd string, extra []string) (<-chan error, context.CancelFunc) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- runServer(ctx, s, listener, etcd, extra) }()
	return ended, stop
}

func (s *state) announce(version string, issuer *issuer, front *front) error {
	return json.NewEncoder(os.Stdout).Encode(announcement{
		Kubeconfig: s.path(kubeconfigFile),
		Server:     s.server(),
		Version:    version,
		CAFile:     s.path(caCert),
		ClientCert: s.path(clientCert),
		ClientKey:  s.path(clientKey),
		State:      s.dir,
		Tokens:     s.Tokens,
		Issuer:     issuer.url,
		IssuerKey:  issuer.secret,
		Front:      front.url,
		Password:   front.password,
		PID:        os.Getpid(),
	})
}

// drain waits briefly for the API server to end. Open watches may delay it; the process then exits without it.
func drain(ended <-chan error) error {
	select {
	case err := <-ended:
		return err
	case <-time.After(drainTimeout):
		return nil
	}
}

// stopEtcd closes the store only: the listeners of etcd wait for their clients, and the process exits anyway.
func stopEtcd(etcd *embed.Etcd) { etcd.Server.Stop() }
