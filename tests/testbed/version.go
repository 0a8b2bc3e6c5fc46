//go:build !clientonly

// The version that the server reports. Kubernetes expects its linker to set it; here it is read from the module list
// that Go embeds in the binary, so a plain `go build` suffices.
package main

import (
	"errors"
	"runtime/debug"
	"strings"
	_ "unsafe" // for go:linkname

	"k8s.io/component-base/version"
)

//go:linkname gitVersion k8s.io/component-base/version.gitVersion
var gitVersion string

//go:linkname gitMajor k8s.io/component-base/version.gitMajor
var gitMajor string

//go:linkname gitMinor k8s.io/component-base/version.gitMinor
var gitMinor string

// setVersion makes this binary report the version of the k8s.io/kubernetes module it was built from, and returns it.
func setVersion() (string, error) {
	kubernetes, err := moduleVersion("k8s.io/kubernetes")
	if err != nil {
		return "", err
	}
	numbers := strings.SplitN(strings.TrimPrefix(kubernetes, "v"), ".", 3)
	if len(numbers) != 3 {
		return "", errors.New("the version " + kubernetes + " of k8s.io/kubernetes is not of the form vX.Y.Z")
	}
	gitVersion, gitMajor, gitMinor = kubernetes, numbers[0], numbers[1]
	return kubernetes, version.SetDynamicVersion(kubernetes)
}

func moduleVersion(path string) (string, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", errors.New("the binary carries no list of its modules")
	}
	for _, module := range info.Deps {
		if module.Path == path {
			return module.Version, nil
		}
	}
	return "", errors.New("the binary was built without the module " + path)
}
