package command

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"tillwatch/ui/doctor"
)

func TestADoctorsWordsAndObjects(t *testing.T) {
	t.Parallel()
	w := doctors(t)
	for _, test := range []struct {
		name, key, ends string
		code            int
	}{
		{"healthy", w.settings.APIKey.Reveal(), "; 3 reads of the quota spent\n", exitDone},
		{"a wrong key", "another-key", ", 1 fault; 1 read of the quota spent\n", exitFailed},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := healthySetup(t, w)
			c.settings["api_key"] = test.key
			r := runAs(t, append([]string{"doctor"}, c.arguments()...)...)
			if r.code != test.code || !strings.Contains(r.out, test.ends) || strings.Contains(r.out, "\x1b") {
				t.Errorf("exit code %d: %s%s", r.code, r.out, r.words)
			}
			r = runAs(t, append([]string{"doctor", "--json"}, c.arguments()...)...)
			lines := strings.Count(r.out, "\n")
			if r.code != test.code || len(r.objects) != lines || lines < 22 {
				t.Fatalf("exit code %d, %d objects: %s%s", r.code, len(r.objects), r.out, r.words)
			}
			fullDisks := 0.0 // on this machine; nothing else may cause a warning
			for _, one := range r.objects[:lines-1] {
				if one["check"] == "" || one["verdict"] == "" || one["found"] == "" {
					t.Errorf("incomplete: %v", one)
				}
				if one["check"] == "disk" && one["verdict"] == "warning" {
					fullDisks++
				}
			}
			last := r.objects[lines-1]
			if last["warning"] != fullDisks || last["fault"] != float64(test.code) || last["reads"].(float64) < 1 {
				t.Errorf("the last object is %v, want %v warnings", last, fullDisks)
			}
		})
	}
}

func TestADoctorTakesASignInPageForNoRelay(t *testing.T) {
	t.Parallel()
	c := healthySetup(t, doctors(t))
	c.front("relay_url", func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(http.StatusUnauthorized); return true }, nil)
	found, _ := c.examine()
	at := slices.IndexFunc(found, func(f doctor.Finding) bool { return f.Check == "relay" })
	if f := found[at]; f.Verdict != doctor.Note || !strings.Contains(f.Found, "if it is a relay") || !strings.Contains(f.Means, "may") {
		t.Errorf("found %+v", f)
	}
}

func TestADoctorOfAShortSecretCanBeRead(t *testing.T) {
	t.Parallel()
	w := doctors(t)
	c := healthySetup(t, w)
	c.settings["api_key"], c.settings["relay_token"], c.settings["signing_secret"] = "e", "~^", "~^~^~"
	r := runAs(t, append([]string{"doctor"}, c.arguments()...)...)
	if !strings.Contains(r.out, "relay_token (TILLWATCH_RELAY_TOKEN) has 2 bytes") || strings.Contains(r.out, "~^") {
		t.Errorf("exit code %d: %s%s", r.code, r.out, r.words)
	}
	c.settings["relay_token"] = strings.Repeat("~^", 8)
	r = runAs(t, append([]string{"doctor"}, c.arguments()...)...)
	if strings.Contains(r.out, "redacted") || !strings.Contains(r.out, "fewer than 16") || strings.Contains(r.out, "~^") {
		t.Errorf("exit code %d: %s%s", r.code, r.out, r.words)
	}
	c.settings["api_key"], c.settings["signing_secret"] = "~^~^~", w.settings.SigningSecret.Reveal() // both are sent
	if r = runAs(t, append([]string{"doctor"}, c.arguments()...)...); strings.Contains(r.out, "~^") || !strings.Contains(r.out, "✕ fault   key") || !strings.Contains(r.out, "✕ fault   token") {
		t.Errorf("exit code %d: %s%s", r.code, r.out, r.words)
	}
}

func TestADoctorMasksWhatIsSecretInAddresses(t *testing.T) {
	t.Parallel()
	w := doctors(t)
	long := strings.Repeat("hidden", 20)
	for _, test := range []struct{ name, setting, scheme, user, query string }{
		{"a service's user", "api_url", "http", "user:hidden@", ""},
		{"a service's long password", "api_url", "http", "user:" + long + "@", ""},
		{"a service's query", "api_url", "http", "", "?key=hidden"},
		{"a relay's user", "relay_url", "http", "user:hidden@", ""},
		{"a relay's user by websocket", "relay_url", "ws", "user:hidden@", ""},
		{"a relay's query", "relay_url", "http", "", "?token=hidden"},
		{"a relay that is away", "relay_url", "https", "user:hidden@", ""},
		{"an address that cannot be read", "api_url", "http", "user:hid den/hidden@", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := healthySetup(t, w)
			_, host, _ := strings.Cut(c.settings[test.setting], "://")
			c.settings[test.setting] = test.scheme + "://" + test.user + host + test.query
			for _, form := range [][]string{{"doctor"}, {"doctor", "--json"}} {
				r := runAs(t, append(form, c.arguments()...)...)
				if all := r.out + r.words; strings.Contains(all, "hid") || !strings.Contains(all, "fault") {
					t.Errorf("%v: %s", form, all)
				}
			}
		})
	}
}

func TestErrorsThatADoctorCanExplainNameIt(t *testing.T) {
	t.Parallel()
	w := doctors(t)
	for _, test := range []struct {
		name string
		args []string
		put  func(*doctorCase)
		more bool
	}{
		{"a refused key", []string{"intent", "ci_1"}, func(c *doctorCase) { c.settings["api_key"] = "another-key" }, true},
		{"a refused token", []string{"events"}, func(c *doctorCase) { c.settings["relay_token"] = "another-token-of-16" }, true},
		{"a relay that is away", []string{"events", "--last", "3"}, func(c *doctorCase) { c.settings["relay_url"] = "http://" + nowhere }, true},
		{"a wrong setting", []string{"events"}, func(c *doctorCase) { c.settings["relay_ulr"] = "x" }, true},
		{"a wrong id", []string{"events", "evt_none"}, func(*doctorCase) {}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := healthySetup(t, w)
			test.put(c)
			r := runAs(t, append(test.args, c.arguments()[:2]...)...)
			if r.code == exitDone || strings.HasSuffix(r.words, " (tillwatch doctor says more)\n") != test.more {
				t.Errorf("exit code %d: %s", r.code, r.words)
			}
		})
	}
}
