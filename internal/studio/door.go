package studio

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Limits of the door.
const (
	maxJSON     = 1 << 20          // bytes of a body that is no upload: 10,000 centres placed by hand are 500 kB
	maxSessions = 16               // browsers that are let in; the one that came first goes when another comes
	patience    = 30 * time.Second // for the next bytes of a body
)

// NewToken returns 144 random bits as text that an address can hold.
func NewToken() string {
	var b [18]byte
	rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// entry is who was let in: the values of their cookies, the oldest first, and the token that works once.
type entry struct {
	mu       sync.Mutex
	once     string
	sessions []string
}

// equal compares secrets in constant time. An empty one is equal to nothing.
func equal(a, b string) bool {
	return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}

// knows reports whether a cookie was given to somebody.
func (e *entry) knows(cookie string) (known bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.sessions {
		known = equal(s, cookie) || known
	}
	return known
}

// admit returns the cookie for whoever has the right token, and the one that has to go for it.
func (e *entry) admit(token, lasting string) (cookie, gone string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case equal(e.once, token):
		e.once = ""
	case !equal(lasting, token):
		return "", ""
	}
	if len(e.sessions) == maxSessions {
		gone, e.sessions = e.sessions[0], e.sessions[1:]
	}
	cookie = NewToken()
	e.sessions = append(e.sessions, cookie)
	return cookie, gone
}

// policy is what a page of the studio may do: nothing but what is served here.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'"

// sessionKey is where the context of a request keeps its cookie.
type sessionKey struct{}

// cookieOf returns what names the workspace of a request that was let in.
func cookieOf(r *http.Request) string {
	s, _ := r.Context().Value(sessionKey{}).(string)
	return s
}

// cookieName has the port in it: browsers share the cookies of all ports of a host.
func (s *Studio) cookieName() string {
	_, port, _ := net.SplitHostPort(s.Host)
	return "latent-studio-" + port
}

// refusal is why a request is not let in.
type refusal struct {
	status int
	text   string
}

// door lets in who may. The rules are in the order in which they are asked.
func (s *Studio) door(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		defer func() {
			if v := recover(); v != nil && v != http.ErrAbortHandler { //nolint:errorlint // the value is compared as net/http does
				fail(w, http.StatusInternalServerError, "this is a fault of latent studio: %v", v)
			}
		}()
		for _, rule := range []func(*http.Request) *refusal{s.checkHost, s.checkOrigin, checkMethod} {
			if no := rule(r); no != nil {
				no.tell(w, r)
				return
			}
		}
		session, no := s.session(w, r)
		if no == nil {
			no = checkType(r)
		}
		if no != nil {
			no.tell(w, r)
			return
		}
		ctx, end := context.WithCancel(context.WithValue(r.Context(), sessionKey{}, session))
		defer end()
		defer context.AfterFunc(s.ctx, end)() // what is asked for ends with the studio
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// tell answers a request that is not let in.
func (no *refusal) tell(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/api/") {
		fail(w, no.status, "%s", no.text)
		return
	}
	http.Error(w, no.text, no.status)
}

// checkHost refuses names that another server has brought to lead to this computer.
func (s *Studio) checkHost(r *http.Request) *refusal {
	_, port, _ := net.SplitHostPort(s.Host)
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]"} {
		if r.Host == host+":"+port {
			return nil
		}
	}
	return &refusal{http.StatusMisdirectedRequest, "latent studio answers at http://" + s.Host + " only"}
}

// checkOrigin refuses what other pages ask for. What has neither header passes: it comes from no page, or from a browser that
// lacks them, and the token stands behind it.
func (s *Studio) checkOrigin(r *http.Request) *refusal {
	no := &refusal{http.StatusForbidden, "another page may not use latent studio"}
	if s.cross.Check(r) != nil {
		return no
	}
	if origin := r.Header.Values("Origin"); len(origin) > 1 || len(origin) == 1 && origin[0] != "http://"+r.Host {
		return no
	}
	switch site := r.Header.Get("Sec-Fetch-Site"); {
	case site == "" || site == "same-origin" || site == "none", r.Header.Get("Sec-Fetch-Mode") == "navigate":
		return nil
	}
	return no
}

// checkMethod refuses all but three methods: only POST changes anything.
func checkMethod(r *http.Request) *refusal {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost:
		return nil
	}
	return &refusal{http.StatusMethodNotAllowed, "only GET and POST are understood"}
}

// checkType demands of every POST the type of its body, which a form of another page cannot send.
func checkType(r *http.Request) *refusal {
	if r.Method != http.MethodPost {
		return nil
	}
	want := "application/json"
	if r.URL.Path == "/api/data" || r.URL.Path == "/api/pictures" {
		want = "application/octet-stream"
	}
	if got, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || got != want {
		return &refusal{http.StatusUnsupportedMediaType, "the Content-Type must be " + want}
	}
	return nil
}

// session returns the cookie of a request. Who comes with the token is given one.
func (s *Studio) session(w http.ResponseWriter, r *http.Request) (string, *refusal) {
	for _, c := range r.CookiesNamed(s.cookieName()) {
		if s.entry.knows(c.Value) {
			return c.Value, nil
		}
	}
	if token := r.URL.Query().Get("token"); token != "" && r.Method == http.MethodGet && isPage(r.URL.Path) {
		cookie, gone := s.entry.admit(token, s.Token)
		if cookie != "" {
			s.leave(gone)
			http.SetCookie(w, &http.Cookie{Name: s.cookieName(), Value: cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
			return cookie, nil
		}
	}
	return "", &refusal{http.StatusForbidden, "open the address that latent studio printed in the terminal: it has the token that lets you in"}
}

// fail answers with an error of one line.
func fail(w http.ResponseWriter, status int, format string, a ...any) {
	answer(w, status, map[string]string{"error": fmt.Sprintf(format, a...)})
}

// answer answers with JSON.
func answer(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"error":"this is a fault of latent studio: an answer that is no JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(b, '\n')) // an error means that nobody listens any more
}

// decode reads the body of a POST into v: one JSON value of known keys, and nothing after it.
func decode(w http.ResponseWriter, r *http.Request, v any) error {
	c := http.NewResponseController(w)
	c.SetReadDeadline(time.Now().Add(patience)) // httptest has no deadlines
	defer c.SetReadDeadline(time.Time{})        // else the answer would end with it
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxJSON))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more after its end")
		}
	}
	if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
		return fmt.Errorf("the request is longer than %d bytes", tooLong.Limit)
	}
	if err != nil {
		return fmt.Errorf("the request is no such JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}
