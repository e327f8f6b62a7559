package browsertest

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/chromedp/chromedp"
)

// deck is the folder that LATENT_SCREENSHOTS names, if any, with the names of the pictures that were written to it.
var deck = struct {
	folder string
	mu     sync.Mutex
	names  []string
}{folder: os.Getenv("LATENT_SCREENSHOTS")}

// picture writes the whole page that is shown to the deck.
func (p *page) picture(name string) {
	p.Helper()
	if deck.folder == "" {
		return
	}
	p.do(chromedp.Evaluate[chromedp.Void]("scrollTo(0, 0)"))
	b, err := chromedp.Run(p.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.MkdirAll(deck.folder, 0o777)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(deck.folder, name+".png"), b, 0o666)
	}
	if err != nil {
		p.Fatal(err)
	}
	deck.mu.Lock()
	defer deck.mu.Unlock()
	deck.names = append(deck.names, name)
}

// writeIndex writes a page that shows all pictures of the deck side by side: a line for what is shown, its looks beside each other.
func writeIndex() error {
	if len(deck.names) == 0 {
		return nil
	}
	var titles []string
	pictures := map[string]string{}
	for _, name := range deck.names {
		title, caption := name, ""
		for _, l := range looks {
			if before, ok := strings.CutSuffix(name, "-"+l.name); ok {
				title, caption = before, l.name
			}
		}
		if !slices.Contains(titles, title) {
			titles = append(titles, title)
		}
		file := html.EscapeString(name + ".png")
		pictures[title] += fmt.Sprintf("<figure><a href=\"%s\"><img src=\"%s\" alt=\"%s\" loading=\"lazy\"></a><figcaption>%s</figcaption></figure>\n", file, file, html.EscapeString(name), caption)
	}
	var b strings.Builder
	b.WriteString(`<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>All pages of latent studio</title>
<style>body { font: 14px system-ui, sans-serif; margin: 24px; background: #888; } div { display: flex; gap: 16px; align-items: start; overflow-x: auto; }
figure { margin: 0; flex: none; } img { width: 460px; max-height: 640px; object-fit: cover; object-position: top; } [alt$=narrow] { width: 200px; }</style>
`)
	for _, title := range titles {
		fmt.Fprintf(&b, "<h2>%s</h2><div>%s</div>\n", html.EscapeString(title), pictures[title])
	}
	return os.WriteFile(filepath.Join(deck.folder, "index.html"), []byte(b.String()), 0o666)
}
