package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"tillwatch/ui/session"
)

// inUTF16 is a text as some editors save it.
func inUTF16(text string) string {
	var b strings.Builder
	b.WriteString("\xff\xfe")
	for _, unit := range utf16.Encode([]rune(text)) {
		b.WriteString(string([]byte{byte(unit), byte(unit >> 8)}))
	}
	return b.String()
}

func TestEveryFileOfTextIsReadByOneRule(t *testing.T) {
	dir := isolate(t)
	path := filepath.Join(dir, "the-file")
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	newCertificate(t, certFile, keyFile, 1)
	content := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	ofSettings := func(key string, read func(settings) string) func(t *testing.T) (string, error) {
		return func(t *testing.T) (string, error) {
			t.Setenv("TILLWATCH_"+key+"_FILE", path)
			s, err := load(t)
			return read(s), err
		}
	}
	pair := func(certFile, keyFile string) (string, error) {
		served, err := readCertificate(certFile, keyFile)
		if err != nil {
			return "", err
		}
		return served.Leaf.Subject.CommonName, nil
	}
	for _, kind := range []struct {
		name, text, want string
		read             func(t *testing.T) (string, error)
	}{
		{"a signing secret", "a-secret-of-20-bytes\n", "a-secret-of-20-bytes", ofSettings("SIGNING_SECRET", func(s settings) string { return s.SigningSecret.Reveal() })},
		{"an API key", "sk-of-a-file\r\n", "sk-of-a-file", ofSettings("API_KEY", func(s settings) string { return s.APIKey.Reveal() })},
		{"a token", "a-token-of-a-file", "a-token-of-a-file", ofSettings("RELAY_TOKEN", func(s settings) string { return s.RelayToken.Reveal() })},
		{"settings", "theme = 'light'\n", "light", func(t *testing.T) (string, error) {
			s, err := load(t, "--config", path)
			return s.Theme, err
		}},
		{"ids", "ci_1\nci_2\n", "ci_1 ci_2", func(*testing.T) (string, error) {
			ids, err := session.ListedIDs(settings{WatchList: path}, nil)
			return strings.Join(ids, " "), err
		}},
		{"a certificate", content(certFile), "relay", func(*testing.T) (string, error) { return pair(path, keyFile) }},
		{"a certificate's key", content(keyFile), "relay", func(*testing.T) (string, error) { return pair(certFile, path) }},
		{"a body", `{"quantity": 2}`, "", func(t *testing.T) (string, error) {
			return "", (&inputs{ctx: t.Context()}).object("--body the-file", path, &map[string]any{})
		}},
	} {
		t.Run(kind.name, func(t *testing.T) {
			for _, form := range []struct{ name, text string }{{"as it is", kind.text}, {"behind a byte order mark", "\ufeff" + kind.text}} {
				writeFile(t, path, form.text)
				got, err := kind.read(t)
				secret := slices.Contains([]string{"a signing secret", "an API key", "a token"}, kind.name)
				if refused := form.text != kind.text && secret; refused {
					if err == nil || !strings.Contains(err.Error(), "the-file") || !strings.Contains(err.Error(), "without one") {
						t.Errorf("%s: read as %q, %v", form.name, got, err)
					}
				} else if err != nil || got != kind.want {
					t.Errorf("%s: read as %q, %v", form.name, got, err)
				}
			}
			for _, form := range []struct{ name, text string }{
				{"in UTF-16", inUTF16(kind.text)}, {"in UTF-16 without a mark", inUTF16(kind.text)[2:]}, {"in Latin-1", kind.text + "\xe9"},
			} {
				writeFile(t, path, form.text)
				if got, err := kind.read(t); err == nil || !strings.Contains(err.Error(), "the-file") || !strings.Contains(err.Error(), "save it as UTF-8") {
					t.Errorf("%s: read as %q, %v", form.name, got, err)
				}
			}
		})
	}
}

func TestASecretBehindAByteOrderMarkIsRefusedByName(t *testing.T) {
	isolate(t)
	t.Setenv("TILLWATCH_SIGNING_SECRET", "\ufeffa-secret-of-20-bytes")
	s, err := load(t)
	if err == nil || !strings.Contains(err.Error(), "signing_secret") || strings.Contains(err.Error(), "of-20-bytes") {
		t.Errorf("read as %q, %v", s.SigningSecret.Reveal(), err)
	}
}
