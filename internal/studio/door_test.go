package studio

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// Every rule of the door, each broken alone.
func TestDoor(t *testing.T) {
	v := serving(t, Options{Version: "v"})
	_, port, _ := strings.Cut(v.Host, ":")
	own := v.url
	tests := []struct {
		name, method, path string
		header             map[string]string
		want               int
	}{
		{"a page", "GET", "/watch", nil, 200},
		{"another page", "GET", "/lab/spike", nil, 200},
		{"HEAD", "HEAD", "/", nil, 200},
		{"state", "GET", "/api/state", nil, 200},
		{"localhost", "GET", "/", map[string]string{"Host": "localhost:" + port}, 200},
		{"::1", "GET", "/", map[string]string{"Host": "[::1]:" + port}, 200},
		{"another host", "GET", "/", map[string]string{"Host": "evil.example"}, 421},
		{"another host with the port", "GET", "/api/state", map[string]string{"Host": "evil.example:" + port}, 421},
		{"a host that begins like ours", "GET", "/", map[string]string{"Host": "localhost.evil.example:" + port}, 421},
		{"a host without its port", "GET", "/", map[string]string{"Host": "127.0.0.1"}, 421},
		{"a host with another port", "GET", "/", map[string]string{"Host": "127.0.0.1:1"}, 421},
		{"a host with a longer port", "GET", "/", map[string]string{"Host": "127.0.0.1:" + port + "0"}, 421},
		{"a host with a dot", "GET", "/", map[string]string{"Host": "localhost.:" + port}, 421},

		{"our origin", "POST", "/api/data?set=@iris", map[string]string{"Origin": own}, 200},
		{"our origin, GET", "GET", "/api/state", map[string]string{"Origin": own}, 200},
		{"another origin", "POST", "/api/data?set=@iris", map[string]string{"Origin": "http://evil.example"}, 403},
		{"another origin, GET", "GET", "/api/state", map[string]string{"Origin": "http://evil.example"}, 403},
		{"no origin at all", "GET", "/api/state", map[string]string{"Origin": "null"}, 403},
		{"another port", "GET", "/api/state", map[string]string{"Origin": "http://127.0.0.1:1"}, 403},
		{"another scheme", "GET", "/api/state", map[string]string{"Origin": "https://" + v.Host}, 403},
		{"a name of ours that was not asked", "GET", "/api/state", map[string]string{"Origin": "http://localhost:" + port}, 403},
		{"cross-site", "POST", "/api/data?set=@iris", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"same-site", "POST", "/api/data?set=@iris", map[string]string{"Sec-Fetch-Site": "same-site"}, 403},
		{"cross-site, GET", "GET", "/api/state", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"same-site, GET: a page of another port", "GET", "/static/x.js", map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}, 403},
		{"same-origin", "GET", "/api/state", map[string]string{"Sec-Fetch-Site": "same-origin"}, 200},
		{"typed in", "GET", "/watch", map[string]string{"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}, 200},

		{"no cookie", "GET", "/api/state", map[string]string{"Cookie": "-"}, 403},
		{"no cookie, page", "GET", "/watch", map[string]string{"Cookie": "-"}, 403},
		{"no cookie, file", "GET", "/static/x.js", map[string]string{"Cookie": "-"}, 403},
		{"no cookie, POST", "POST", "/api/data?set=@iris", map[string]string{"Cookie": "-"}, 403},
		{"a wrong cookie", "GET", "/api/state", map[string]string{"Cookie": v.cookieName() + "=" + testToken}, 403},
		{"an empty cookie", "GET", "/api/state", map[string]string{"Cookie": v.cookieName() + "="}, 403},
		{"the cookie of another port", "GET", "/api/state", map[string]string{"Cookie": "latent-studio-1=" + v.cookie.Value}, 403},
		{"a wrong cookie before the right one", "GET", "/api/state", map[string]string{"Cookie": v.cookieName() + "=x; " + v.cookieName() + "=" + v.cookie.Value}, 200},
		{"the token at the API", "GET", "/api/state?token=" + testToken, map[string]string{"Cookie": "-"}, 403},
		{"the token at a page", "GET", "/data?token=" + testToken, map[string]string{"Cookie": "-"}, 200},
		{"a wrong token", "GET", "/?token=" + strings.Repeat("0", 24), map[string]string{"Cookie": "-"}, 403},
		{"an empty token", "GET", "/?token=", map[string]string{"Cookie": "-"}, 403},
		{"a part of the token", "GET", "/?token=" + testToken[:5], map[string]string{"Cookie": "-"}, 403},

		{"no type", "POST", "/api/data?set=@iris", map[string]string{"Content-Type": "-"}, 415},
		{"a form", "POST", "/api/data?set=@iris", map[string]string{"Content-Type": "multipart/form-data; boundary=x"}, 415},
		{"text", "POST", "/api/data?set=@iris", map[string]string{"Content-Type": "text/plain"}, 415},
		{"JSON where a file is wanted", "POST", "/api/pictures", map[string]string{"Content-Type": "application/json"}, 415},
		{"a file where JSON is wanted", "POST", "/api/pictures/p1/segment", nil, 415},
		{"PUT", "PUT", "/api/data", nil, 405},
		{"DELETE", "DELETE", "/api/data/d1", nil, 405},
		{"a question before a request", "OPTIONS", "/api/data", map[string]string{"Access-Control-Request-Method": "POST", "Cookie": "-"}, 405},
		{"GET of what changes something", "GET", "/api/data?set=@iris", nil, 404},
		{"POST to a page", "POST", "/watch", map[string]string{"Content-Type": "application/json"}, 404},

		{"nothing", "GET", "/nothing", nil, 404},
		{"nothing of the API", "GET", "/api/nothing", nil, 404},
		{"a folder", "GET", "/static/", nil, 404},
		{"below a case of the lab", "GET", "/lab/spike/x", nil, 404},
		{"outside", "GET", "/static/..%2fdoor.go", nil, 404},
		{"far outside", "GET", "/static/..%2f..%2f..%2fetc%2fpasswd", nil, 404},
	}
	for _, x := range tests {
		r := v.ask(x.method, x.path, "", x.header)
		if r.StatusCode != x.want {
			t.Errorf("%s: %s %s with %v is answered with %d, want %d: %.80s", x.name, x.method, x.path, x.header, r.StatusCode, x.want, r.body)
		}
		h := r.Header
		if r.StatusCode >= 400 && x.method != "HEAD" && strings.Count(strings.TrimSpace(string(r.body)), "\n") != 0 {
			t.Errorf("%s: more than a line: %q", x.name, r.body)
		}
		if h.Get("Access-Control-Allow-Origin") != "" || h.Get("Content-Security-Policy") != policy || h.Get("X-Content-Type-Options") != "nosniff" ||
			h.Get("Referrer-Policy") != "no-referrer" || h.Get("Cross-Origin-Opener-Policy") != "same-origin" || h.Get("Cross-Origin-Resource-Policy") != "same-origin" {
			t.Errorf("%s: the headers are %v", x.name, h)
		}
	}
}

func TestCookie(t *testing.T) {
	v := serving(t, Options{})
	_, port, _ := strings.Cut(v.Host, ":")
	c := v.cookie
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Name != "latent-studio-"+port || c.MaxAge != 0 || c.Domain != "" {
		t.Errorf("the cookie is %v", c)
	}
	if len(c.Value) != 24 || strings.Contains(c.Value, testToken) { // 144 bits, six a letter
		t.Errorf("the cookie is %q", c.Value)
	}
	// who is in already keeps the cookie, and with it what is open
	if again := v.ask("GET", "/?token="+testToken, "", nil); again.StatusCode != 200 || len(again.Cookies()) != 0 {
		t.Errorf("the token again: %d, %v", again.StatusCode, again.Cookies())
	}
	if stale := v.ask("GET", "/?token=old", "", nil); stale.StatusCode != 200 {
		t.Errorf("an old token with a good cookie: %d", stale.StatusCode)
	}
}

// The token that the browser is opened with works once, whoever is first.
func TestOnce(t *testing.T) {
	v := serving(t, Options{Once: "once"})
	var in sync.WaitGroup
	var mu sync.Mutex
	codes := map[int]int{}
	for range 8 {
		in.Add(1)
		go func() {
			defer in.Done()
			r := v.ask("GET", "/?token=once", "", map[string]string{"Cookie": "-"})
			mu.Lock()
			codes[r.StatusCode]++
			mu.Unlock()
		}()
	}
	in.Wait()
	if codes[200] != 1 || codes[403] != 7 {
		t.Errorf("eight at once: %v", codes)
	}
}

// Each that is let in has a workspace of its own; beyond a number of them the oldest has to go.
func TestWorkspaces(t *testing.T) {
	v := serving(t, Options{})
	d := v.open("a.csv", "a,b\n1,2\n3,4\n")
	enter := func() map[string]string {
		c := v.ask("GET", "/?token="+testToken, "", map[string]string{"Cookie": "-"}).Cookies()[0]
		return map[string]string{"Cookie": c.Name + "=" + c.Value}
	}
	other := enter()
	if r := v.ask("GET", "/api/data/"+d.ID+"/marks?x=a", "", other); r.StatusCode != 404 {
		t.Errorf("another's table is answered with %d", r.StatusCode)
	}
	if r := v.ask("GET", "/api/data/"+d.ID+"/marks?x=a", "", nil); r.StatusCode != 200 {
		t.Errorf("the own table is answered with %d %s", r.StatusCode, r.body)
	}
	for range maxSessions - 1 {
		enter()
	}
	if r := v.ask("GET", "/api/state", "", nil); r.StatusCode != 403 {
		t.Errorf("the oldest is still let in: %d", r.StatusCode)
	}
	if left := v.files(); len(left) != 0 {
		t.Errorf("its files are still there: %q", left)
	}
}

func TestNewToken(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		s := NewToken()
		if len(s) != 24 || url.QueryEscape(s) != s || seen[s] {
			t.Fatalf("token %q", s)
		}
		seen[s] = true
	}
}

// A body of JSON is one value of known keys, and bounded.
func TestDecode(t *testing.T) {
	s := serving(t, Options{})
	s.pictureForTest("p0")
	for body, want := range map[string]string{
		``: "no such JSON", `{`: "no such JSON", `{"k":"x"}`: "no such JSON", `{"k":3}{}`: "more after its end", `{"k":3} x`: "more after its end", `{"kk":3}`: "unknown field",
		`{"model":"` + strings.Repeat("x", maxJSON) + `"}`: fmt.Sprint(maxJSON), `[]`: "no such JSON", strings.Repeat("[", 100_000): "no such JSON",
	} {
		r := s.ask("POST", "/api/pictures/p0/segment", body, map[string]string{"Content-Type": "application/json"})
		if r.StatusCode != 400 || !strings.Contains(string(r.body), want) {
			t.Errorf("%.40q: %d %s", body, r.StatusCode, r.body)
		}
	}
}

// The address of any request is answered, and never with a fault.
func FuzzAddress(f *testing.F) {
	v := serving(f, Options{})
	for _, s := range []string{"/", "/watch?data=@iris", "/api/data/@iris/marks?x=sepal_length&y=pc1", "/api/data/d1/rows/1", "/lab/x", "/static/../x", "//", "/%00", "/api/data/@/marks", "/?token=%ff&token=a", "/api/data/@iris/rows/-1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		u, err := url.Parse(v.url)
		if err != nil {
			t.Fatal(err)
		}
		u.Path, u.RawQuery, _ = strings.Cut(path, "?")
		if !strings.HasPrefix(u.Path, "/") {
			u.Path = "/" + u.Path
		}
		r, err := http.NewRequest("GET", u.String(), nil)
		if err != nil { // no address
			return
		}
		r.AddCookie(v.cookie)
		got, err := v.client.Transport.RoundTrip(r)
		if err != nil { // no request of HTTP
			return
		}
		got.Body.Close()
		if got.StatusCode >= 500 {
			t.Errorf("%q is answered with %d", path, got.StatusCode)
		}
	})
}
