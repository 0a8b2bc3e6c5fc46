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
)

const usage = `Usage: testbed COMMAND [flags]

  serve        run a kube-apiserver with etcd on loopback
  certificate  make a client certificate that such a server takes, or one that it does not
  informer     watch a resource with a client-go informer and print its events
  browse       do what an interactive browser of clusters does, and print what it is report
  load         create pods that look like a real cluster's
  churn        change pods at a steady rate
`

type command func(ctx context.Context, args []string) error

// commands is the subcommands; serve and certificate register themselves where they are built in.
var commands = map[string]command{
	"informer": inform,
	"browse":   browse,
	"load":     load,
	"churn":    churn,
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
