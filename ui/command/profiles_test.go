package command

import (
	"strings"
	"testing"
)

func TestAProfileThatIsSwitchedToTakesItsAccountFromTheFileAlone(t *testing.T) {
	isolate(t)
	path := writeConfig(t, `
poll_share = 0.2
[profile.live]
api_url = "https://live.example"
api_key = "key-of-live"
`)
	t.Setenv("TILLWATCH_API_KEY", "key-of-the-first")
	t.Setenv("TILLWATCH_RELAY_URL", "https://relay-of-the-first.example")
	t.Setenv("TILLWATCH_RELAY_TOKEN", "token-of-the-first")
	t.Setenv("TILLWATCH_ALLOW_CONFIRM", "true")
	t.Setenv("TILLWATCH_THEME", "light")
	flags := newWatch().Flags()
	if err := flags.Parse([]string{"--config", path, "--api-url", "https://first.example", "--allow-confirm", "--insecure-http", "--watch-id", "ci_1", "--poll-share", "0.9"}); err != nil {
		t.Fatal(err)
	}
	first, err := loadSettings(flags)
	if err != nil || first.APIKey.Reveal() != "key-of-the-first" || !first.AllowConfirm {
		t.Fatalf("the first is %+v (%v)", first, err)
	}
	s, err := loadProfile(flags, "live")
	if err != nil {
		t.Fatal(err)
	}
	got := []any{s.APIURL, s.APIKey.Reveal(), s.RelayURL, s.RelayToken.IsZero(), s.AllowConfirm, s.InsecureHTTP, len(s.WatchIDs), s.KeyProfile, s.Chosen, s.Theme, s.PollShare}
	want := []any{"https://live.example", "key-of-live", "", true, false, false, 0, "live", "live", "light", 0.9}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("setting %d is %v, want %v", i, got[i], want[i])
		}
	}
}

func TestWhatAProfileLacksIsAdvisedWhereASwitchReadsIt(t *testing.T) {
	for _, c := range []struct{ name, profile, advice string }{
		{"the service", ``, "no service is configured: set api_url in [profile.live]"},
		{"the key", `api_url = "https://live.example"`, "no API key is configured: set api_key_file in [profile.live]"},
		{"the relay's token", `api_url = "https://live.example"
api_key = "key-of-live"
relay_url = "https://relay.example"`, "a relay is configured without its token: set relay_token_file in [profile.live]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			isolate(t)
			p := &profiles{flags: newWatch().Flags()}
			if err := p.flags.Parse([]string{"--config", writeConfig(t, "[profile.live]\n"+c.profile+"\n")}); err != nil {
				t.Fatal(err)
			}
			err := p.Prepare(t.Context(), "live")
			if err == nil || !strings.Contains(err.Error(), c.advice) || strings.Contains(err.Error(), "TILLWATCH_") {
				t.Errorf("the advice is %v", err)
			}
		})
	}
}
