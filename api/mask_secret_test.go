package api

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

// marker stands for a secret. It does not look like one.
const marker = "Zq7Marker4xW"

// secretForms are the ways in which a text holds a secret: NAME is one like a secret's.
func secretForms() []string {
	return []string{
		"https://me:" + marker + "@host.example/", "//me:" + marker + "@host.example", "me:" + marker + "@host.example:5432/db", "https://" + marker + "@host.example/",
		"https://me:p@" + marker + "@host.example/?x=1",
		"https://host.example/?NAME=" + marker, "https://host.example/?a=1&NAME=" + marker + "&b=2", "https://host.example/#NAME=" + marker,
		"https://host.example/p;NAME=" + marker, "https://me:pw@host.example/?NAME=" + marker, "https://host.example/ann@mail.example?NAME=" + marker,
		"?user[NAME]=" + marker, "https://host.example/?a=b?c=d;NAME=" + marker,
		"Authorization: Bearer " + marker, "Authorization: Basic " + marker, `Authorization: Digest username="x", response="` + marker + `"`, "Cookie: a=b; c=" + marker,
		"bearer " + marker, "NAME: " + marker, "X-Api-NAME: Basic " + marker, "NAME=" + marker, "NAME = 'a b " + marker + "'", `NAME := "` + marker + `"`, "NAME => '" + marker + "'",
		`{"NAME":"` + marker + `"}`, `{"a": {"NAME" : "a \" b, ` + marker + `"}}`, `{'NAME': '` + marker + `'}`, `{"NAME":["a","` + marker + `"]}`, `{"NAME": {"value": "` + marker + `"}}`,
	}
}

// encodings write a text in another way.
func encodings() []func(string) string {
	inJSON := func(s string) string {
		text, _ := json.Marshal(s)
		return strings.Trim(string(text), `"`)
	}
	return []func(string) string{
		func(s string) string { return s },
		url.QueryEscape,
		url.PathEscape,
		func(s string) string { return url.QueryEscape(url.QueryEscape(s)) },
		func(s string) string { return url.PathEscape(url.QueryEscape(s)) },
		inJSON,
		func(s string) string { return inJSON(inJSON(s)) },
		func(s string) string { return url.QueryEscape(inJSON(s)) },
		func(s string) string { return inJSON(url.QueryEscape(s)) },
		func(s string) string { return "https://a.example/?next=" + url.QueryEscape(s) + "&n=1" },
	}
}

// breaks split a text over lines.
func breaks() []func(string) string {
	return []func(string) string{
		func(s string) string { return s },
		func(s string) string { return strings.ReplaceAll(s, " ", "\n") },
		func(s string) string { return strings.ReplaceAll(s, " ", "\r\n  ") },
		func(s string) string { return strings.ReplaceAll(s, "=", "=\n") },
		func(s string) string { return strings.ReplaceAll(s, marker, marker[:3]+"\n"+marker[3:]) },
	}
}

func secretNames() []string {
	return []string{"token", "accessToken", "API_KEY", "x-api-key", "client_secret", "PassWord", "signature", "key", "%61pi_key", "sessionId", "tok\u200ben"}
}

// withSecret plants a secret into a text.
func withSecret(form, name, split, encoding int) string {
	pick := func(i, n int) int { return int(uint(i) % uint(n)) }
	text := strings.ReplaceAll(secretForms()[pick(form, len(secretForms()))], "NAME", secretNames()[pick(name, len(secretNames()))])
	return encodings()[pick(encoding, len(encodings()))](breaks()[pick(split, len(breaks()))](text))
}

// checkNoSecret holds that no way of masking a text shows the secret in it.
func checkNoSecret(t *testing.T, text string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"message": text, "list": []string{text}, text: 1})
	if err != nil {
		t.Fatal(err)
	}
	checkMasked(t, body)
	for way, shown := range map[string]string{
		"Masked": string(Masked(body)), "Revealed": string(Revealed(body)), "Revealed, of the buyer": string(Revealed([]byte(`{"buyer":` + string(body) + `}`))),
		"MaskAddress": string(MaskAddress(Scrub(text))), "as an address": maskAddress(text),
	} {
		if strings.Contains(shown, marker) || strings.Contains(shown, marker[3:]) && way != "MaskAddress" {
			t.Errorf("%q\nis shown by %s as\n%s", text, way, shown)
		}
	}
}

func TestNoSecretInATextIsShown(t *testing.T) {
	for form, text := range secretForms() {
		for encoding := range encodings() {
			for split := range breaks() {
				checkNoSecret(t, withSecret(form, 0, split, encoding))
			}
			for name := range secretNames() {
				if strings.Contains(text, "NAME") {
					checkNoSecret(t, withSecret(form, name, 0, encoding))
				}
			}
		}
	}
}

func FuzzNoSecretInATextIsShown(f *testing.F) {
	f.Add("", "", 0, 0, 0, 0)
	f.Add(`token="{`, `"}`, 5, 1, 1, 1)
	f.Add("https://me:pw@host/?key=", "&b@c", 24, 2, 2, 5)
	f.Add("see %25", "%3D", 18, 3, 3, 9)
	f.Fuzz(func(t *testing.T, before, after string, form, name, split, encoding int) {
		if strings.Contains(before+after, marker[3:]) {
			return
		}
		checkNoSecret(t, before+" "+withSecret(form, name, split, encoding)+after)
	})
}
