// The state directory of a testbed: the paths of its files, and the data that a second start reuses.

package server

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	caCert            = "ca.crt"
	caKey             = "ca.key"
	serverCert        = "apiserver.crt"
	serverKey         = "apiserver.key"
	clientCert        = "admin.crt"
	clientKey         = "admin.key"
	serviceAccountKey = "service-account.key"
	tokenFile         = "tokens.csv"
	kubeconfigFile    = "kubeconfig"
	settingsFile      = "testbed.json"
	serverLog         = "apiserver.log"
	etcdLog           = "etcd.log"
	etcdData          = "etcd"
	lockFile          = "lock"
)

// users is the names that have a token, with the groups of each.
var users = map[string]string{"admin": "system:masters", "reader": "", "nobody": ""}

// state is an open state directory. Port and Tokens survive a restart.
type state struct {
	Port   int               `json:"port"`
	Tokens map[string]string `json:"tokens"`

	dir       string
	temporary bool
	lock      *os.File
}

// openState opens the directory, or a temporary one if dir is empty, and creates the files of a first start.
func openState(dir string) (*state, error) {
	s := &state{temporary: dir == ""}
	var err error
	if s.temporary {
		dir, err = os.MkdirTemp("", "testbed-")
	} else {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return nil, err
	}
	if s.dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if err := s.takeLock(); err != nil {
		return nil, err
	}
	settings, err := os.ReadFile(s.path(settingsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, s.create()
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(settings, s); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", s.path(settingsFile), err)
	}
	return s, nil
}

func (s *state) path(name string) string { return filepath.Join(s.dir, name) }

func (s *state) server() string { return fmt.Sprintf("https://127.0.0.1:%d", s.Port) }

// takeLock keeps a second server off the directory; the kernel releases the lock when the process ends.
func (s *state) takeLock() error {
	file, err := os.OpenFile(s.path(lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("another testbed serves from %s", s.dir)
	}
	s.lock = file
	return nil
}

// create fills an empty directory: keys and tokens.
func (s *state) create() error {
	if err := writeKeys(s); err != nil {
		return err
	}
	s.Tokens = map[string]string{}
	var lines strings.Builder
	for user, groups := range users {
		secret := make([]byte, 16)
		if _, err := rand.Read(secret); err != nil {
			return err
		}
		s.Tokens[user] = hex.EncodeToString(secret)
		fmt.Fprintf(&lines, "%s,%s,%s,%q\n", s.Tokens[user], user, user, groups)
	}
	return os.WriteFile(s.path(tokenFile), []byte(lines.String()), 0o600)
}

// save writes the data for the next start and the clients once the port is chosen.
func (s *state) save() error {
	config := clientcmdapi.NewConfig()
	config.Clusters["testbed"] = &clientcmdapi.Cluster{Server: s.server(), CertificateAuthority: s.path(caCert)}
	for user, token := range s.Tokens {
		config.AuthInfos[user] = &clientcmdapi.AuthInfo{Token: token}
		config.Contexts[user] = &clientcmdapi.Context{Cluster: "testbed", AuthInfo: user}
	}
	config.CurrentContext = "admin"
	if err := clientcmd.WriteToFile(*config, s.path(kubeconfigFile)); err != nil {
		return err
	}
	settings, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(s.path(settingsFile), append(settings, '\n'), 0o600)
}

// close removes the directory if it was a temporary one.
func (s *state) close() error {
	if s.temporary {
		return os.RemoveAll(s.dir)
	}
	return s.lock.Close()
}
