// The OpenID Connect issuer that the API server trusts. With the client's secret it issues a token for any user with
// any lifetime (grant_type=password&username=U&lifetime=SECONDS), and a single-use refresh token.

package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const oidcClient = "kdelta"

// grant is the user and lifetime of a refresh token.
type grant struct {
	user string
	life time.Duration
}

type issuer struct {
	url    string
	secret string
	key    *ecdsa.PrivateKey

	mu     sync.Mutex
	grants map[string]grant // by refresh token; each is taken out when it is used
}

// startIssuer serves an issuer until the process ends.
func startIssuer(s *state) (*issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	i := &issuer{url: "https://" + listener.Addr().String(), secret: rand.Text(), key: key, grants: map[string]grant{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", i.discover)
	mux.HandleFunc("GET /keys", i.keys)
	mux.HandleFunc("POST /token", i.token)
	go func() { _ = http.ServeTLS(listener, mux, s.path(serverCert), s.path(serverKey)) }()
	return i, nil
}

// flags returns the API server's flags that make it trust the issuer.
func (i *issuer) flags(s *state) []string {
	return []string{
		"--oidc-issuer-url=" + i.url,
		"--oidc-client-id=" + oidcClient,
		"--oidc-ca-file=" + s.path(caCert),
		"--oidc-username-claim=sub",
		"--oidc-username-prefix=-",
		"--oidc-signing-algs=ES256",
	}
}

func (i *issuer) discover(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{
		"issuer":                                i.url,
		"jwks_uri":                              i.url + "/keys",
		"token_endpoint":                        i.url + "/token",
		"authorization_endpoint":                i.url + "/none",
		"response_types_supported":              []string{"code"},
		"subject_types_supported":               []string{"public"},
		"id_token_signing_alg_values_supported": []string{"ES256"},
	})
}

func (i *issuer) keys(w http.ResponseWriter, _ *http.Request) {
	point, err := i.key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	answer(w, http.StatusOK, map[string]any{"keys": []any{map[string]string{
		"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": "1",
		"x": encoded(point[1:33]), "y": encoded(point[33:]),
	}}})
}

func (i *issuer) token(w http.ResponseWriter, r *http.Request) {
	id, secret, inHeader := r.BasicAuth()
	if !inHeader {
		id, secret = r.FormValue("client_id"), r.FormValue("client_secret")
	}
	if id != oidcClient || secret != i.secret {
		answer(w, http.StatusUnauthorized, map[string]string{"error": "invalid_client"})
		return
	}
	granted, ok := i.granted(r)
	if !ok {
		description := "the refresh token is not known or was used"
		answer(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant", "error_description": description})
		return
	}
	token, err := i.sign(granted)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	next := rand.Text()
	i.mu.Lock()
	i.grants[next] = granted
	i.mu.Unlock()
	answer(w, http.StatusOK, map[string]string{"token_type": "Bearer", "id_token": token, "refresh_token": next})
}

// granted returns the grant of a request.
func (i *issuer) granted(r *http.Request) (grant, bool) {
	if r.FormValue("grant_type") == "password" {
		seconds, err := strconv.Atoi(r.FormValue("lifetime"))
		return grant{r.FormValue("username"), time.Duration(seconds) * time.Second}, err == nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	used := r.FormValue("refresh_token")
	granted, ok := i.grants[used]
	delete(i.grants, used)
	return granted, ok
}

// sign returns a JSON Web Token (RFC 7515).
func (i *issuer) sign(granted grant) (string, error) {
	now := time.Now()
	claims, err := json.Marshal(map[string]any{
		"iss": i.url, "aud": oidcClient, "sub": granted.user,
		"iat": now.Unix(), "exp": now.Add(granted.life).Unix(), "jti": rand.Text(),
	})
	if err != nil {
		return "", err
	}
	signed := encoded([]byte(`{"alg":"ES256","kid":"1"}`)) + "." + encoded(claims)
	digest := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, i.key, digest[:])
	if err != nil {
		return "", err
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return fmt.Sprintf("%s.%s", signed, encoded(signature)), nil
}

func encoded(bytes []byte) string { return base64.RawURLEncoding.EncodeToString(bytes) }

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}
