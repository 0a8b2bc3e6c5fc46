// testbed certificate: a client certificate for a served state directory, with a key in any common format.

package server

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"time"

	"github.com/spf13/pflag"
)

// Certificate is the command certificate.
func Certificate(_ context.Context, args []string) error {
	flags := pflag.NewFlagSet("certificate [flags] PREFIX", pflag.ContinueOnError)
	dir := flags.String("state", "", "state directory of the server that is to take it")
	name := flags.String("name", "reader", "user that it is for")
	form := flags.String("form", "sec1", "form of the key: sec1, pkcs8 or pkcs1")
	life := flags.Duration("life", time.Hour, "how long it is good; less than nothing has expired")
	stranger := flags.Bool("stranger", false, "have it signed by an authority that nobody knows")
	versionOne := flags.Bool("v1", false, "write X.509 version 1, as openssl x509 -req does")
	if err := flags.Parse(args); err != nil {
		return err
	}
	prefix := flags.Arg(0)
	s := &state{dir: *dir}
	ca, err := readAuthority(s.path(caCert), s.path(caKey))
	if *stranger {
		ca, err = newAuthority(prefix+".ca.crt", prefix+".ca.key")
	}
	if err != nil {
		return err
	}
	key, err := newKeyIn(*form, prefix+".key")
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: *name},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		NotAfter:    time.Now().Add(*life),
	}
	if err := ca.issueFor(template, key.Public(), prefix+".crt"); err != nil || !*versionOne {
		return err
	}
	return ca.signVersionOne(prefix + ".crt")
}

// signVersionOne signs the same subject and key again without version and extensions: crypto/x509 writes version 3 only.
func (a *authority) signVersionOne(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return fmt.Errorf("%s holds no PEM", file)
	}
	third, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return err
	}
	raw := func(der []byte) asn1.RawValue { return asn1.RawValue{FullBytes: der} }
	algorithm := pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 2}} // ecdsa-with-SHA256
	toBeSigned, err := asn1.Marshal(struct {
		SerialNumber *big.Int
		Algorithm    pkix.AlgorithmIdentifier
		Issuer       asn1.RawValue
		Validity     struct{ NotBefore, NotAfter time.Time }
		Subject      asn1.RawValue
		PublicKey    asn1.RawValue
	}{
		third.SerialNumber, algorithm, raw(third.RawIssuer),
		struct{ NotBefore, NotAfter time.Time }{third.NotBefore, third.NotAfter},
		raw(third.RawSubject), raw(third.RawSubjectPublicKeyInfo),
	})
	if err != nil {
		return err
	}
	digest := sha256.Sum256(toBeSigned)
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, digest[:])
	if err != nil {
		return err
	}
	der, err := asn1.Marshal(struct {
		ToBeSigned asn1.RawValue
		Algorithm  pkix.AlgorithmIdentifier
		Signature  asn1.BitString
	}{raw(toBeSigned), algorithm, asn1.BitString{Bytes: signature, BitLength: 8 * len(signature)}})
	if err != nil {
		return err
	}
	return writePEM(file, "CERTIFICATE", der, 0o644)
}

// newKeyIn creates a key and writes it in one of the formats of common tools.
func newKeyIn(form, file string) (crypto.Signer, error) {
	switch form {
	case "sec1":
		return newKey(file)
	case "pkcs8":
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, err
		}
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			return nil, err
		}
		return key, writePEM(file, "PRIVATE KEY", der, 0o600)
	case "pkcs1":
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			return nil, err
		}
		return key, writePEM(file, "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key), 0o600)
	default:
		return nil, fmt.Errorf("no form of a key: %q", form)
	}
}
