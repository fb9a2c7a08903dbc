package command

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tillwatch/api"
	"tillwatch/relay"
	"tillwatch/relay/signature"
)

const (
	ourSecret   = "a secret that nobody reads"
	otherSecret = "the secret of the live profile"
	thinEvent   = `{"id":"evt_1","object":"event","type":"shipment.updated","createdAt":"2026-04-21T03:27:50.000Z","source":{"type":"shipment","id":"sh_'1'"}}`
)

// invokeWith runs a command with stdin.
func invokeWith(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, words bytes.Buffer
	code = run(t.Context(), args, strings.NewReader(stdin), &out, &words)
	if all := out.String() + words.String(); strings.Contains(all, ourSecret) || strings.Contains(all, otherSecret) {
		t.Errorf("%v prints a secret:\n%s", args, all)
	}
	return code, out.String(), words.String()
}

func written(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "it's a file")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func ours(body string) string { return signature.Of(api.NewSecret(ourSecret), []byte(body)).String() }

func TestSignPrintsTheFourHeaders(t *testing.T) {
	isolate(t)
	t.Setenv("TILLWATCH_SIGNING_SECRET", ourSecret+"\nan older secret that nobody reads")
	want := "x-svc-signature: " + ours(thinEvent) + "\nx-svc-event-id: evt_1\nx-svc-timestamp: 1776742070\nx-svc-topic: shipment.updated\n"
	if code, out, _ := invokeWith(t, thinEvent, "sign", "--timestamp", "1776742070"); code != exitDone || out != want {
		t.Errorf("%d\n%s\nwant\n%s", code, out, want)
	}
	code, out, _ := invokeWith(t, "", "sign", "--json", "--body", written(t, thinEvent))
	var headers map[string]string
	if err := json.Unmarshal([]byte(out), &headers); err != nil || code != exitDone || headers["x-svc-signature"] != ours(thinEvent) || headers["x-svc-topic"] != "shipment.updated" {
		t.Errorf("%d %v %s", code, err, out)
	}
	if _, out, _ := invokeWith(t, thinEvent, "sign", "--signing-secret-file", written(t, otherSecret+"\n")); !strings.Contains(out, signature.Of(api.NewSecret(otherSecret), []byte(thinEvent)).String()) {
		t.Errorf("the file of a flag does not win over the variable: %s", out)
	}
	for body, want := range map[string]struct{ headers, says string }{
		`{"id":"$(id)\r\nx-a: b","type":"y"}`: {"x-svc-event-id: " + string(api.ScrubID("$(id)\r\nx-a: b")) + "\nx-svc-timestamp: 1\nx-svc-topic: y\n", ""},
		`{"id":7,"type":"y"}`:                 {"x-svc-event-id: \nx-svc-timestamp: 1\nx-svc-topic: y\n", "tillwatch: x-svc-event-id is empty: the body has no value for it\n"},
		`id=1`: {"x-svc-event-id: \nx-svc-timestamp: 1\nx-svc-topic: \n",
			"tillwatch: x-svc-event-id is empty: the body has no value for it\ntillwatch: x-svc-topic is empty: the body has no value for it\n"},
	} {
		if code, out, words := invokeWith(t, body, "sign", "--timestamp", "1"); code != exitDone || !strings.HasSuffix(out, want.headers) || words != want.says {
			t.Errorf("%s: %d %s%s", body, code, out, words)
		}
	}
}

func TestVerifyTakesWhatItIsGivenInAnyForm(t *testing.T) {
	isolate(t)
	t.Setenv("TILLWATCH_SIGNING_SECRET", ourSecret)
	header, largest := "X-Svc-Signature: "+ours(thinEvent), strings.Repeat("a", relay.MaxBody)
	for _, test := range []struct {
		name  string
		stdin string
		args  []string
		code  int
		says  string
	}{
		{"a body and a header", thinEvent, []string{"-H", header}, exitDone, ""},
		{"a file and a header", "", []string{"-H", header, "--body", written(t, thinEvent)}, exitDone, ""},
		{"a request", "POST /webhooks HTTP/1.1\r\nHost: a\r\n" + header + "\r\n\r\n" + thinEvent, nil, exitDone, ""},
		{"a request without its first line", header + "\n\n" + thinEvent, nil, exitDone, ""},
		{"a request with a line break of an editor", header + "\nContent-Length: 139\n\n" + thinEvent + "\n", nil, exitDone, ""},
		{"a request in chunks", header + "\nTransfer-Encoding: chunked\n\n8b\r\n" + thinEvent + "\r\n0\r\n\r\n", nil, exitDone, ""},
		{"a request with the largest body that a relay takes", "X-Svc-Signature: " + ours(largest) + "\n\n" + largest, nil, exitDone, ""},
		{"headers of stdin and a body", header + "\n", []string{"--request", "-", "--body", written(t, thinEvent)}, exitDone, ""},
		{"headers of a file, and the body of stdin", thinEvent, []string{"--request", written(t, header)}, exitDone, ""},
		{"a timestamp that cannot be read", thinEvent, []string{"-H", header, "-H", "x-svc-timestamp: abc"}, exitDone, `: the timestamp cannot be read: "abc" is not a Unix time in seconds`},
		{"an old delivery", thinEvent, []string{"-H", header, "-H", "x-svc-timestamp: 1"}, exitDone, " behind this clock: some receivers refuse such a delivery"},
		{"another body", thinEvent + " ", []string{"-H", header}, exitFailed, "the signature is wrong: --diagnose names the likely cause"},
		{"no signature", "a: b\n\nbody", []string{"--diagnose"}, exitFailed, "there is no x-svc-signature header"},
		{"no signature, and no diagnosis asked for", "a: b\n\nbody", nil, exitFailed, "there is no x-svc-signature header"},
		{"headers and no body", header, nil, exitUsage, "stdin has headers but no body"},
		{"a body and no headers", thinEvent, []string{"--body", "-"}, exitUsage, "which headers came with the body?"},
		{"a header that is none", thinEvent, []string{"-H", "v0=1"}, exitUsage, "--header is"},
		{"a request that is none", "POST / HTTP/1.1\nwhat is this\n\n", nil, exitUsage, "the headers cannot be read"},
		{"a file that is not there", "", []string{"-H", header, "--body", "/nowhere"}, exitUsage, "/nowhere"},
		{"what is too large", strings.Repeat("a", 1<<20+1), []string{"-H", header}, exitUsage, "larger than"},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, out, words := invokeWith(t, test.stdin, append([]string{"verify"}, test.args...)...)
			if code != test.code || !strings.Contains(out+words, test.says) || (code == exitDone) != strings.HasPrefix(out, "the signature is right") ||
				code == exitDone && test.says == "" && out != "the signature is right\n" {
				t.Errorf("%d %q %q, want %d %q", code, out, words, test.code, test.says)
			}
		})
	}
	t.Setenv("TILLWATCH_SIGNING_SECRET", "")
	if code, _, words := invokeWith(t, thinEvent, "verify", "-H", header); code != exitUsage || !strings.Contains(words, "no signing secret is configured") {
		t.Errorf("without a secret: %d %s", code, words)
	}
}

func TestVerifyNamesTheCause(t *testing.T) {
	isolate(t)
	live := written(t, otherSecret+"\n")
	config := writeConfig(t, "[profile.staging]\nsigning_secret = \""+ourSecret+"\"\n[profile.live]\nsigning_secret_file = \""+live+"\"\n[profile.broken]\nsigning_secret_file = \"/nowhere\"\n")
	for _, test := range []struct {
		name, secret, body string
		cause              signature.Cause
		says               string
	}{
		{"none", ourSecret, thinEvent, "", ""},
		{"another profile's secret", otherSecret, thinEvent, signature.Secret, `the profile "live"`},
		{"a line break", ourSecret + "\n", thinEvent, signature.Secret, "has a line break"},
		{"a line break that was cut off", ourSecret, thinEvent + "\n", signature.Body, "hand the raw bytes on"},
	} {
		t.Run(test.name, func(t *testing.T) {
			code, out, _ := invokeWith(t, thinEvent, "verify", "--config", config, "--profile", "staging", "--diagnose", "--json",
				"-H", "x-svc-signature: "+signature.Of(api.NewSecret(test.secret), []byte(test.body)).String())
			var found signature.Diagnosis
			if err := json.Unmarshal([]byte(out), &found); err != nil || found.Cause != test.cause || !strings.Contains(found.Text, test.says) || (code == exitDone) != (test.cause == "") {
				t.Errorf("%d %v %s", code, err, out)
			}
		})
	}
}
