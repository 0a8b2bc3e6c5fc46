// Command testbed is the real Kubernetes of kdelta's tests and measurements: a kube-apiserver with its etcd in one
// process, and the tools that load it, churn it and watch it as client-go does. This file only selects the subcommand.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"kdelta.dev/testbed/internal/browse"
	"kdelta.dev/testbed/internal/churn"
	"kdelta.dev/testbed/internal/informer"
	"kdelta.dev/testbed/internal/load"
)

const usage = `Usage: testbed COMMAND [flags]

  serve        run a kube-apiserver with etcd on loopback
  certificate  make a client certificate that such a server accepts, or one that it rejects
  informer     watch a resource with a client-go informer and print its events
  browse       send the requests of an interactive cluster browser and print the responses
  load         create pods that look like a real cluster's
  churn        change pods at a steady rate
`

type command func(ctx context.Context, args []string) error

// commands is the subcommands; server.go adds those of the server.
var commands = map[string]command{
	"informer": informer.Run,
	"browse":   browse.Run,
	"load":     load.Run,
	"churn":    churn.Run,
}

func main() {
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	err := commands[os.Args[1]](ctx, os.Args[2:])
	if errors.Is(err, pflag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "testbed %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}
