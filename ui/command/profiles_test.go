package command

import "testing"

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
	got := []any{s.APIURL, s.APIKey.Reveal(), s.RelayURL, s.RelayToken.IsZero(), s.AllowConfirm, s.InsecureHTTP, len(s.WatchIDs), s.Profile, s.Chosen, s.Theme, s.PollShare}
	want := []any{"https://live.example", "key-of-live", "", true, false, false, 0, "live", "live", "light", 0.9}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("setting %d is %v, want %v", i, got[i], want[i])
		}
	}
}
