package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tillwatch/api"
	"tillwatch/api/account"
	"tillwatch/api/simulator"
)

// keyedWorld is a world whose session has its key from a file.
func keyedWorld(t *testing.T, key string) (w *world, path string) {
	t.Helper()
	w = newWorld(t, quiet())
	path = filepath.Join(t.TempDir(), "key")
	writeFile(t, path, key+"\n")
	w.settings.APIKey, w.settings.SecretFiles = api.NewSecret(key), map[string]string{"api_key": path}
	return w, path
}

func TestARefusedKeyIsOverOnceItsFileHoldsAnother(t *testing.T) {
	t.Parallel()
	w, path := keyedWorld(t, "wrong-key")
	w.openBoard(t, 200, 55)
	w.screen.waitFor(t, `api ✕ key refused`, `correct it in .*key; r tries again, else in \d+s`)
	made(t, w.service, simulator.Order{ProductURL: "https://spice-lab.example/products/chili-crisp"})
	w.screen.waitFor(t, `offer retrieved`)

	writeFile(t, path, "")
	w.waitForPicture(t, "a file that holds no key is told of", func(c account.Changes) bool { return alerts(c, account.AlertKey, "holds no secret") })
	writeFile(t, path, "shop/production-0123456789abcdef")
	w.waitForPicture(t, "a key of another environment is told of", func(c account.Changes) bool { return alerts(c, account.AlertKey, "production key") })

	writeFile(t, path, "key-of-the-test\n")
	w.screen.waitFor(t, `api ●`, `awaiting 1\b`, `spice-lab.example`, `USD`)
	w.waitForPicture(t, "the alerts are over", func(c account.Changes) bool {
		return !alerts(c, account.AlertKey, "") && !alerts(c, account.AlertAPI, "")
	})
	if text, _ := w.screen.text(); strings.Contains(text, "production-0123") || strings.Contains(text, "key-of-the-test") {
		t.Errorf("a key is on the screen:\n%s", text)
	}
}

func TestARefusedKeyIsReadAgainByAKey(t *testing.T) {
	t.Parallel()
	w, path := keyedWorld(t, "wrong-key")
	folder := filepath.Join(filepath.Dir(path), "later")
	w.settings.SecretFiles["api_key"] = filepath.Join(folder, "key")
	w.openBoard(t, 200, 55)
	w.screen.waitFor(t, `api ✕ key refused`)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, w.settings.KeyFile(), "key-of-the-test")
	w.screen.press(t, "r")
	w.screen.waitFor(t, `api ●`)
}

// alerts reports whether an alert of a kind stands whose text contains words.
func alerts(c account.Changes, kind account.AlertKind, words string) bool {
	for _, a := range c.Summary.Alerts {
		if a.Kind == kind && strings.Contains(a.Text, words) {
			return true
		}
	}
	return false
}
