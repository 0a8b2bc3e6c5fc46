// The etcd of the API server, in this process.

package server

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
)

const etcdStartTimeout = 30 * time.Second

// startEtcd starts a single member on free loopback ports and returns it with the address for its clients.
func startEtcd(s *state) (*embed.Etcd, string, error) {
	anyPort := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config := embed.NewConfig()
	config.Dir = s.path(etcdData)
	config.ListenClientUrls, config.AdvertiseClientUrls = anyPort, anyPort
	config.ListenPeerUrls, config.AdvertisePeerUrls = anyPort, anyPort
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.EnableGRPCGateway = false // it would dial the port as written, which is 0
	config.LogLevel = "warn"
	config.LogOutputs = []string{s.path(etcdLog)}
	config.WarningUnaryRequestDuration = embed.DefaultWarningUnaryRequestDuration // else 0, and every request is logged
	// A test cluster need not survive a power failure: it trades durability for speed. A single member wins its election
	// at once.
	config.UnsafeNoFsync = true
	config.TickMs, config.ElectionMs = 10, 100
	config.QuotaBackendBytes = 8 << 30

	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return nil, "", fmt.Errorf("etcd does not start: %w", err)
	}
	select {
	case <-etcd.Server.ReadyNotify():
	case err := <-etcd.Err():
		return nil, "", fmt.Errorf("etcd stopped while starting: %w", err)
	case <-time.After(etcdStartTimeout):
		return nil, "", errors.New("etcd is not ready in time")
	}
	return etcd, "http://" + etcd.Clients[0].Addr().String(), nil
}
