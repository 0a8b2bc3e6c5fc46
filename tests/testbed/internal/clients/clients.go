// Package clients creates the clients of the testbed's tools, without a limit on their request rate.
package clients

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// RESTConfig reads a kubeconfig; an empty context selects its current one.
func RESTConfig(kubeconfig, context string) (*rest.Config, error) {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig},
		&clientcmd.ConfigOverrides{CurrentContext: context},
	).ClientConfig()
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	config.UserAgent = "testbed"
	return config, nil
}

// Typed returns a client of the built-in kinds that uses protobuf, the cheapest encoding for the server.
func Typed(kubeconfig string) (kubernetes.Interface, error) {
	config, err := RESTConfig(kubeconfig, "")
	if err != nil {
		return nil, err
	}
	config.ContentType = runtime.ContentTypeProtobuf
	config.WarningHandler = rest.NoWarnings{}
	return kubernetes.NewForConfig(config)
}
