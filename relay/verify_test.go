package relay

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"tillwatch/api"
	"tillwatch/relay/signature"
)

// attempt is a delivery with the signature values that it carries.
type attempt struct {
	name       string
	body       []byte
	signatures []string
}

// forgeries are the ways in which a delivery of body may be wrong.
func forgeries(body []byte) []attempt {
	valid := sign(testSecret, body)
	digits := strings.TrimPrefix(valid, "v0=")
	all := []attempt{
		{"no signature", body, nil},
		{"an empty signature", body, []string{""}},
		{"another version", body, []string{"v1=" + digits}},
		{"no version", body, []string{digits}},
		{"an upper-case version", body, []string{"V0=" + digits}},
		{"upper-case digits", body, []string{"v0=" + strings.ToUpper(digits)}},
		{"the signature twice", body, []string{valid, valid}},
		{"a wrong one beside the right one", body, []string{valid, "v0=" + strings.Repeat("0", 64)}},
		{"two in one value", body, []string{valid + "," + valid}},
		{"one digit more", body, []string{valid + "0"}},
		{"a letter past f", body, []string{"v0=g" + digits[1:]}},
		{"a digit of another script", body, []string{"v0=" + strings.Repeat("٣", 32)}},
		{"the text of another secret", body, []string{sign("another secret of tests", body)}},
		{"the signature of the empty body", body, []string{sign(testSecret, nil)}},
		{"a body with one byte more", append(bytes.Clone(body), '\n'), []string{valid}},
		{"a body with one byte less", body[:len(body)-1], []string{valid}},
		{"an empty body", nil, []string{valid}},
		{"a body with CRLF", bytes.ReplaceAll(body, []byte(","), []byte(",\r\n")), []string{valid}},
		{"a body with escaped slashes", bytes.ReplaceAll(body, []byte("/"), []byte(`\/`)), []string{valid}},
		{"a body that is not UTF-8", append(bytes.Clone(body), 0xff), []string{valid}},
	}
	for i := range digits {
		for bit := range 4 {
			value := strings.IndexByte("0123456789abcdef", digits[i]) ^ 1<<bit
			flipped := digits[:i] + "0123456789abcdef"[value:value+1] + digits[i+1:]
			all = append(all, attempt{fmt.Sprintf("bit %d of digit %d flipped", bit, i), body, []string{"v0=" + flipped}})
		}
	}
	for length := range len(valid) {
		all = append(all, attempt{fmt.Sprintf("the first %d characters", length), body, []string{valid[:length]}})
	}
	return all
}

func (a attempt) request() *http.Request {
	req := httptest.NewRequest(http.MethodPost, WebhookPath, bytes.NewReader(a.body))
	for _, s := range a.signatures {
		req.Header.Add("x-svc-signature", s)
	}
	return req
}

// exchange sends a delivery over a connection of its own, byte by byte as given,
// and returns the answer as it came.
func (a attempt) exchange(t *testing.T, n *network) []byte {
	t.Helper()
	c, err := n.dial(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	request := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: relay\r\nConnection: close\r\nContent-Length: %d\r\n", WebhookPath, len(a.body))
	for _, s := range a.signatures {
		request += "x-svc-signature: " + s + "\r\n"
	}
	go func() { _, _ = io.WriteString(c, request+"\r\n"+string(a.body)) }() // the answer may come first
	answer, err := io.ReadAll(c)
	if err != nil {
		t.Fatalf("%s: %v", a.name, err)
	}
	return answer
}

// Every forgery gets the same bytes over the wire, from the status line on. In
// the bubble the Date stands still.
func TestEveryForgeryIsAnsweredWithTheSameBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, log := newMemory(t), &recorded{}
		r := newTestRelay(t, memory, func(cfg *Config) { cfg.Logger = log.logger() })
		n, stop := serveOn(t, r.Ingest())
		defer stop()
		body := []byte(`{"id":"evt_1","type":"shipment.updated","source":{"id":"https://shop.example/a","type":"shipment"}}`)
		var first []byte
		for _, a := range forgeries(body) {
			answer := a.exchange(t, n)
			if first == nil {
				first = answer
			}
			if !bytes.HasPrefix(answer, []byte("HTTP/1.1 401 ")) || !bytes.Equal(answer, first) {
				t.Errorf("%s: %q, want %q", a.name, answer, first)
			}
		}
		if head := headOf(t, memory); head != 0 {
			t.Errorf("%d forged events are in the journal", head)
		}
		valid := attempt{"the valid one", body, []string{sign(testSecret, body)}}
		if answer := valid.exchange(t, n); !bytes.HasPrefix(answer, []byte("HTTP/1.1 200 ")) {
			t.Errorf("the valid one: %q", answer)
		}
		if head := headOf(t, memory); head != 1 {
			t.Errorf("the head is %d after a valid delivery", head)
		}
		for _, secret := range []string{testSecret, strings.TrimPrefix(valid.signatures[0], "v0=")} {
			if bytes.Contains(first, []byte(secret)) || strings.Contains(log.String(), secret) {
				t.Error("a secret or an expected value is in an answer or in the log")
			}
		}
	})
}

// The key is the text of the secret, also where it looks like hexadecimal
// digits: the digest is one that was computed outside this program.
func TestTheKeyIsTheTextOfTheSecret(t *testing.T) {
	secret := "00112233445566778899aabbccddeeff"
	v, err := newVerifier(defaultHeaderPrefix, []api.Secret{api.NewSecret(secret)})
	if err != nil {
		t.Fatal(err)
	}
	given, ok := signature.Parse("v0=58e519482bcc890c89a50ddb639a0b86ea1835e44705031cc823a63db8345200")
	if !ok {
		t.Fatal("the signature is not of the right form")
	}
	if _, ok := v.verify([]byte(`{"id":"evt_1"}`), given); !ok {
		t.Error("the signature does not match")
	}
}

func TestRotation(t *testing.T) {
	r := newTestRelay(t, newMemory(t), nil)
	older, newer := api.NewSecret(testSecret), api.NewSecret("the next secret of tests")
	accepted := func(secret api.Secret, n int) bool {
		body := eventBody(n)
		w := serve(r.Ingest(), (attempt{"", body, []string{sign(secret.Reveal(), body)}}).request())
		return w.Code == http.StatusOK
	}
	for _, step := range []struct {
		name         string
		active       []api.Secret
		older, newer bool
	}{
		{"both while they change", []api.Secret{newer, older}, true, true},
		{"the new one alone", []api.Secret{newer}, false, true},
		{"back to the old one", []api.Secret{older}, true, false},
	} {
		if err := r.SetSigningSecrets(step.active); err != nil {
			t.Fatal(err)
		}
		if accepted(older, 1) != step.older || accepted(newer, 2) != step.newer {
			t.Errorf("%s: the secrets are not accepted as they should be", step.name)
		}
	}
	if err := r.SetSigningSecrets([]api.Secret{api.NewSecret("short")}); err == nil {
		t.Error("a short secret was taken")
	}
	if !accepted(older, 3) {
		t.Error("a refused rotation has changed the secrets")
	}
}

func TestTheHeaderPrefixIsASetting(t *testing.T) {
	r := newTestRelay(t, newMemory(t), func(cfg *Config) { cfg.HeaderPrefix = "X-Shop-" })
	req := httptest.NewRequest(http.MethodPost, WebhookPath, bytes.NewReader(eventBody(1)))
	req.Header.Set("x-shop-signature", sign(testSecret, eventBody(1)))
	if w := serve(r.Ingest(), req); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func FuzzSignatureHeader(f *testing.F) {
	body := []byte(`{"id":"evt_1","type":"shipment.updated"}`)
	valid := sign(testSecret, body)
	f.Add(valid)
	f.Add("v0=" + strings.Repeat("a", 64))
	f.Add("v0=")
	r := newTestRelay(f, newMemory(f), nil)
	f.Fuzz(func(t *testing.T, text string) {
		w := serve(r.Ingest(), (attempt{"", body, []string{text}}).request())
		if accepted := w.Code == http.StatusOK; accepted != (text == valid) {
			t.Errorf("%q is answered %d", text, w.Code)
		}
	})
}
