// Package version sets the version of Kubernetes that a program reports. Kubernetes expects its linker to set it; here it
// is read from the module list that Go embeds in the binary, so a plain `go build` suffices.
package version

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

// SetFrom makes this binary report the version of the module it was built from, and returns it. The modules of
// Kubernetes' parts count v0.MINOR.PATCH for Kubernetes v1.MINOR.PATCH.
func SetFrom(module string) (string, error) {
	found, err := moduleVersion(module)
	if err != nil {
		return "", err
	}
	numbers := strings.SplitN(strings.TrimPrefix(found, "v"), ".", 3)
	if len(numbers) != 3 {
		return "", errors.New("the version " + found + " of " + module + " is not of the form vX.Y.Z")
	}
	numbers[0] = "1"
	gitVersion, gitMajor, gitMinor = "v"+strings.Join(numbers, "."), numbers[0], numbers[1]
	return gitVersion, version.SetDynamicVersion(gitVersion)
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
