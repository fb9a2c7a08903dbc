package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whoever gives the secret where its file belongs does not find it in a log.
func TestASecretThatStandsForItsFileIsNotRepeated(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("body.json", []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	secrets := []string{"sk_live_0123456789abcdef", "6N3SCVTPAHTIFA6E6LTB57DDRB", "whsec_MfKQ9r/8GabcdefghijK", "k3J9/dQw8Zp+LmN2vXy5RtUa7BcEfGh0IjKl1OpQrSs=", strings.Repeat("a-long-secret", 100)}
	for _, secret := range secrets {
		for _, args := range [][]string{
			{"sign", "--body", "body.json", "--signing-secret-file", secret},
			{"sign", "--body", "body.json", "--config", configFile(t, "signing_secret_file", secret)},
			{"lookup", "https://a.example/", "--config", configFile(t, "api_url", "http://127.0.0.1:1", "api_key_file", secret)},
			{"doctor", "--config", configFile(t, "api_url", "http://127.0.0.1:1", "api_key_file", secret)},
		} {
			r := runAs(t, args...)
			if text := r.out + r.words; strings.Contains(text, secret) || !strings.Contains(text, "not the secret itself") || r.code == exitDone {
				t.Errorf("%s: exit code %d: %s", args[0], r.code, text)
			}
		}
	}
	missing := filepath.Join(t.TempDir(), "none")
	if r := runAs(t, "sign", "--body", "body.json", "--signing-secret-file", missing); !strings.Contains(r.words, missing) || r.code != exitUsage {
		t.Errorf("exit code %d, without the path: %s", r.code, r.words)
	}
}

// Several mistakes take one look.
func TestAMissingFileOfASecretHidesNoOtherSetting(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	config := configFile(t, "api_url", "http://127.0.0.1:1", "api_key_file", missing+"-key", "relay_token_file", missing+"-token", "theme", "nord")
	for _, args := range [][]string{{"status"}, {"doctor"}} {
		r := runAs(t, append(args, "--config", config, "--poll-every", "-3s")...)
		for _, want := range []string{missing + "-key", missing + "-token", "poll_every is"} {
			if !strings.Contains(r.out+r.words, want) || r.code == exitDone {
				t.Errorf("%s says nothing of %q: %s%s", args[0], want, r.out, r.words)
			}
		}
	}
}
