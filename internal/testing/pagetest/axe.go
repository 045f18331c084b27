package pagetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Axe lets axe-core look for barriers to accessibility on a page, in Chromium, in light and dark at
// the width of a phone. Without them it skips the test.
func Axe(t *testing.T, page string) {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium in PATH")
	}
	path := os.Getenv("TCBUILD_AXE")
	if path == "" {
		t.Skip("TCBUILD_AXE does not name the axe.min.js of npm's axe-core")
	}
	axe, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "page.html")
	const report = `axe.run().then(r => { document.body.innerHTML = "<pre>"; document.querySelector("pre").textContent =
		"violations: " + r.violations.map(v => v.id + " at " + v.nodes[0].html).join("; ") })`
	text := strings.Replace(page, "</body>", "<script>"+string(axe)+"</script><script>"+report+"</script></body>", 1)
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, scheme := range []string{"0", "1"} { // dark, light
		out, err := exec.Command(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+filepath.Join(dir, "profile"),
			"--blink-settings=preferredColorScheme="+scheme, "--window-size=400,900", "--virtual-time-budget=60000", "--dump-dom", "file://"+file).Output()
		if err != nil {
			t.Fatal("chromium:", err)
		}
		found := regexp.MustCompile(`(?s)<pre>violations: (.*?)</pre>`).FindSubmatch(out)
		if found == nil {
			t.Fatalf("axe did not end; found %.1000s", out)
		}
		if len(found[1]) > 0 {
			t.Errorf("scheme %s: axe found %s", scheme, found[1])
		}
	}
}
