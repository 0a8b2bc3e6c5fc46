//go:build !clientonly

// The subcommands of the server. A build with the tag clientonly leaves the server out.

package main

import "kdelta.dev/testbed/internal/server"

func init() {
	commands["serve"] = server.Serve
	commands["certificate"] = server.Certificate
}
