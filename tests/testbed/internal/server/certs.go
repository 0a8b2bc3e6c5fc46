// The keys of a testbed: a certificate authority, the server's certificate, the administrator's client certificate and
// the key that signs service account tokens. Created once per state directory.

package server

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"
)

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// writeKeys creates every key and certificate of the state directory.
func writeKeys(s *state) error {
	ca, err := newAuthority(s.path(caCert), s.path(caKey))
	if err != nil {
		return err
	}
	server := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "testbed-apiserver"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	if err := ca.issue(server, s.path(serverCert), s.path(serverKey)); err != nil {
		return err
	}
	admin := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "admin", Organization: []string{"system:masters"}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if err := ca.issue(admin, s.path(clientCert), s.path(clientKey)); err != nil {
		return err
	}
	_, err = newKey(s.path(serviceAccountKey))
	return err
}

func newAuthority(certFile, keyFile string) (*authority, error) {
	key, err := newKey(keyFile)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "testbed-ca"},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
	}
	ca := &authority{certificate: template, key: key}
	ca.certificate, err = ca.sign(template, key.Public(), certFile)
	return ca, err
}

// readAuthority reads the files written by newAuthority.
func readAuthority(certFile, keyFile string) (*authority, error) {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, err
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s is no key of an authority", keyFile)
	}
	return &authority{certificate: pair.Leaf, key: key}, nil
}

// issue creates a key and a leaf certificate for it.
func (a *authority) issue(template *x509.Certificate, certFile, keyFile string) error {
	key, err := newKey(keyFile)
	if err != nil {
		return err
	}
	return a.issueFor(template, key.Public(), certFile)
}

// issueFor creates a leaf certificate for an existing key.
func (a *authority) issueFor(template *x509.Certificate, public crypto.PublicKey, certFile string) error {
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.BasicConstraintsValid = true
	_, err := a.sign(template, public, certFile)
	return err
}

// sign writes the certificate and returns it parsed, including the identifiers set on signing.
func (a *authority) sign(template *x509.Certificate, public crypto.PublicKey, certFile string) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-time.Hour)
	if template.NotAfter.IsZero() {
		template.NotAfter = template.NotBefore.AddDate(10, 0, 0)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, public, a.key)
	if err != nil {
		return nil, err
	}
	if err := writePEM(certFile, "CERTIFICATE", der, 0o644); err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

func newKey(file string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalECPrivateKey(key) // the one form that the API server takes as a service account key too
	if err != nil {
		return nil, err
	}
	return key, writePEM(file, "EC PRIVATE KEY", der, 0o600)
}

func writePEM(file, kind string, der []byte, mode os.FileMode) error {
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), mode)
}
