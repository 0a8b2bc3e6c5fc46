// The front of the API server: a TLS proxy that authenticates one user by name and password, which the API server
// itself no longer supports. Requests with the password are forwarded as that user, others with a token that the API
// server rejects.

package server

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
)

const frontUser = "reader"

type front struct {
	url      string
	password string
}

// startFront serves a front until the process ends.
func startFront(s *state) (*front, error) {
	pem, err := os.ReadFile(s.path(caCert))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, errors.New("the authority is no certificate")
	}
	server, err := url.Parse(s.server())
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &front{url: "https://" + listener.Addr().String(), password: rand.Text()}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(server)
			token := "nobody's"
			if name, password, ok := r.In.BasicAuth(); ok && name == frontUser && password == f.password {
				token = s.Tokens[frontUser]
			}
			r.Out.Header.Set("Authorization", "Bearer "+token)
		},
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}},
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // clients of tests go away as they please
	}
	go func() { _ = http.ServeTLS(listener, proxy, s.path(serverCert), s.path(serverKey)) }()
	return f, nil
}
