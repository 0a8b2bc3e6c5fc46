// Command kubectl is kubectl of the Kubernetes version that go.mod names. Tests compare kdelta with it: an installed
// kubectl may have any version, or select one at run time.
package main

import (
	"fmt"
	"os"

	_ "k8s.io/client-go/plugin/pkg/client/auth" // The log-in with OpenID Connect.
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"

	"kdelta.dev/testbed/internal/version"
)

func main() {
	if _, err := version.SetFrom("k8s.io/kubectl"); err != nil {
		fmt.Fprintf(os.Stderr, "kubectl: %v\n", err)
		os.Exit(1)
	}
	// The same as in cmd/kubectl: the verbosity counts before the arguments are parsed, and kubectl words its errors.
	// The error of an invalid level is reported when the arguments are parsed.
	_, _ = logs.GlogSetter(cmd.GetLogVerbosity(os.Args))
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}
