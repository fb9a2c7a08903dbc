package signature

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"tillwatch/api"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

var noon = time.Date(2026, 4, 21, 12, 0, 0, 0, time.UTC)

const event = `{"id":"evt_1","object":"event","type":"product.updated","createdAt":"2026-04-21T03:27:50.000Z",` +
	`"source":{"type":"product","id":"https://shop.example/a?b=1&c=2"},"data":{"title":"Zürich <b>","price":44.50,"tags":[],"stock":null}}`

// signed is the header of a delivery whose body was signed with key.
func signed(key, body string) http.Header {
	return header(Of(api.NewSecret(key), []byte(body)).String())
}

func header(signatures ...string) http.Header {
	h := http.Header{"X-Svc-Timestamp": {fmt.Sprint(noon.Unix())}, "X-Svc-Event-Id": {"evt_1"}}
	for _, s := range signatures {
		h.Add("x-svc-signature", s)
	}
	return h
}

// arrived is a delivery of body as the one who has secret gets it.
func arrived(body string, h http.Header) Delivery {
	return Delivery{Body: []byte(body), Header: h, Prefix: "x-svc-", Secrets: []api.Secret{api.NewSecret(secret)}, Now: noon}
}

func indented(body, prefix, indent string) string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(body), prefix, indent); err != nil {
		panic(err)
	}
	return b.String()
}

func compressed(body string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(body))
	_ = w.Close()
	return b.String()
}

func TestEachBrokenSetUpIsNamed(t *testing.T) {
	right := Of(api.NewSecret(secret), []byte(event)).String()
	digits := strings.TrimPrefix(right, Version)
	raw, _ := hex.DecodeString(digits)
	const second = "the second of two secrets"
	own := func(key string) Delivery {
		d := arrived(event, signed(secret, event))
		d.Secrets = []api.Secret{api.NewSecret(key)}
		return d
	}
	both := func(key string) Delivery {
		d := arrived(event, signed(key, event))
		d.Secrets = append(d.Secrets, api.NewSecret(second))
		return d
	}
	others := func(key string) Delivery {
		d := arrived(event, signed(key, event))
		d.Others = []Other{
			{api.NewSecret("the secret before"), Rotation, "before the rotation"},
			{api.NewSecret("the live secret"), Secret, `the profile "live"`},
		}
		return d
	}
	crlf := strings.ReplaceAll(indented(event, "", "  "), "\n", "\r\n")
	decoded, _ := base64.RawStdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	for _, test := range []struct {
		name  string
		d     Delivery
		cause Cause
		says  string
	}{
		{"no prefix", arrived(event, header(digits)), Prefix, "more than v0=, or less"},
		{"GitHub's prefix", arrived(event, header("sha256="+digits)), Prefix, "more than v0=, or less"},
		{"quotes around it", arrived(event, header(`"`+right+`"`)), Prefix, "more than v0=, or less"},
		{"the same twice", arrived(event, header(right, right)), Prefix, "more than v0=, or less"},
		{"digits in capitals", arrived(event, header("v0="+strings.ToUpper(digits))), HeaderEncoding, "capitals"},
		{"Base64 digits", arrived(event, header("v0="+base64.StdEncoding.EncodeToString(raw))), HeaderEncoding, "Base64"},
		{"URL-safe Base64", arrived(event, header(base64.RawURLEncoding.EncodeToString(raw))), HeaderEncoding, "Base64"},
		{"the secret ends in a line break there", arrived(event, signed(secret+"\n", event)), Secret, "at the sender"},
		{"the secret has a blank before it there", arrived(event, signed(" "+secret, event)), Secret, "at the sender"},
		{"the secret ends in a line break here", own(secret + "\r\n"), Secret, "here or"},
		{"the secret is in quotes here", own(`"` + secret + `"`), Secret, "here or"},
		{"the secret loses whsec_", arrived(event, signed(secret[6:], event)), Secret, "a part of the secret"},
		{"the secret is decoded", arrived(event, signed(string(decoded), event)), Secret, "decodes it"},
		{"two lines are one secret", both(secret + "\n" + second + "\n"), Secret, "takes two for one"},
		{"a secret that was rotated out", others("the secret before"), Rotation, "before the rotation"},
		{"another environment's", others("the live secret"), Secret, `the profile "live"`},
		{"a proxy indents it", arrived(indented(event, "", "  "), signed(secret, event)), Body, "written again"},
		{"a line break is cut off", arrived(event, signed(secret, event+"\n")), Body, "line breaks"},
		{"a line break is put on", arrived(event+"\n", signed(secret, event)), Body, "line breaks"},
		{"CRLF arrives", arrived(crlf, signed(secret, indented(event, "", "  "))), Body, "line breaks"},
		{"CRLF was signed", arrived(indented(event, "", "  "), signed(secret, crlf)), Body, "line breaks"},
		{"a byte order mark arrives", arrived(mark+event, signed(secret, event)), Body, "byte order mark"},
		{"a byte order mark was signed", arrived(event, signed(secret, mark+event)), Body, "byte order mark"},
		{"an empty body was signed", arrived(event, signed(secret, "")), Body, "signs an empty body"},
		{"Slack's way", arrived(event, signed(secret, fmt.Sprintf("v0:%d:%s", noon.Unix(), event))), Timestamp, "signs the timestamp"},
		{"Stripe's way", arrived(event, signed(secret, fmt.Sprintf("%d.%s", noon.Unix(), event))), Timestamp, "signs the timestamp"},
		{"Svix's way", arrived(event, signed(secret, fmt.Sprintf("evt_1.%d.%s", noon.Unix(), event))), Timestamp, "signs the timestamp"},
		{"no signature", arrived(event, header()), Missing, "no x-svc-signature header"},
		{"a prefix without a signature", arrived(event, header("v0=")), Missing, "64 hexadecimal digits"},
		{"a signature that was cut", arrived(event, header("v0=6a3a04855be62864")), Missing, "64 hexadecimal digits"},
		{"two faults", arrived(event, header(signed(secret+"\n", event).Get("x-svc-signature")[3:])), Prefix, "besides, the secret"},
		{"another secret", arrived(event, signed("some other secret", event)), Unknown, "probably another secret"},
		{"two signatures", arrived(event, header(right, "v0="+strings.Repeat("0", 64))), Unknown, "nothing that was tried fits"},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := Diagnose(test.d)
			if found.Valid || found.Cause != test.cause || !strings.Contains(found.Text, test.says) {
				t.Errorf("%+v, want %s: %s", found, test.cause, test.says)
			}
			if found.Proven != (test.cause != Unknown && test.cause != Missing) {
				t.Errorf("proven: %v", found.Proven)
			}
			if strings.Contains(found.Text, "MfKQ9r8GKY") || strings.Contains(found.Text, digits) || strings.Contains(found.Text, "\n") {
				t.Errorf("%q reveals a secret, a signature, or takes two lines", found.Text)
			}
		})
	}
}

func TestAValidSignatureNeedsNoName(t *testing.T) {
	if found := Diagnose(arrived(event, signed(secret, event))); found != (Diagnosis{Valid: true}) {
		t.Errorf("%+v", found)
	}
	old := arrived(event, signed(secret, event))
	old.Now = noon.Add(time.Hour)
	if found := Diagnose(old); !found.Valid || found.Cause != Timestamp || found.Proven {
		t.Errorf("an hour later: %+v", found)
	}
	old.Now = noon.Add(54268 * time.Hour)
	if found := Diagnose(old); !strings.HasPrefix(found.Text, "the timestamp is 2261d4h behind this clock: ") {
		t.Errorf("years later: %+v", found)
	}
	for _, text := range []string{"yesterday", "1776772800.5", "1776772800123", "99999999999999999999"} {
		odd := arrived(event, signed(secret, event))
		odd.Header.Set("x-svc-timestamp", text)
		if found := Diagnose(odd); !found.Valid || found.Cause != Timestamp || found.Proven || !strings.HasPrefix(found.Text, fmt.Sprintf("the timestamp cannot be read: %q is not a Unix time", text)) {
			t.Errorf("%s: %+v", text, found)
		}
	}
	second := arrived(event, signed("the second of two secrets", event))
	second.Secrets = append(second.Secrets, api.NewSecret("the second of two secrets"))
	if found := Diagnose(second); !found.Valid || found.Cause != Rotation || !strings.Contains(found.Text, "secret 2 of 2") {
		t.Errorf("the second secret: %+v", found)
	}
}

// TestNothingIsNamedThatIsNot tries bodies of every kind, validly signed or spoilt
// at random: where none of the causes was at work, none may be named.
func TestNothingIsNamedThatIsNot(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	for n := range 1000 {
		body := randomBody(dice)
		d := arrived(body, signed(secret, body))
		spoilt := n%4 == 3
		if spoilt {
			spoil(dice, &d)
		}
		want := Diagnosis{Valid: true}
		if spoilt {
			want = Diagnosis{Cause: Unknown}
		}
		if found := Diagnose(d); found.Valid != want.Valid || found.Cause != want.Cause || found.Proven {
			t.Fatalf("body %d, %q: %+v", n, d.Body, found)
		}
	}
}

func randomBody(dice *rand.Rand) string {
	switch dice.IntN(4) {
	case 0:
		raw := make([]byte, 1+dice.IntN(200))
		for i := range raw {
			raw[i] = byte(dice.Uint32())
		}
		return string(raw)
	case 1:
		return indented(fmt.Sprintf(`{"id":"evt_%d","n":[%d,{}],"text":"%c"}`, dice.Int(), dice.Int(), rune(0x20ac+dice.IntN(90))), "", " ")
	case 2:
		return fmt.Sprintf("%c%x\r\n", rune('a'+dice.IntN(26)), dice.Int())
	}
	return strings.ReplaceAll(event, "evt_1", fmt.Sprintf("evt_%x", dice.Int()))
}

// spoil changes a letter of the body, a digit of the signature, or the secret.
func spoil(dice *rand.Rand, d *Delivery) {
	switch dice.IntN(3) {
	case 0:
		i := dice.IntN(len(d.Body))
		d.Body[i] ^= byte(1 + dice.IntN(255))
	case 1:
		value := []byte(d.Header.Get("x-svc-signature"))
		i := len(Version) + dice.IntN(64)
		value[i] = "123456789abcdef0"[strings.IndexByte("0123456789abcdef", value[i])]
		d.Header.Set("x-svc-signature", string(value))
	case 2:
		d.Secrets = []api.Secret{api.NewSecret(fmt.Sprintf("secret number %x", dice.Int()))}
	}
}

// TestADiagnosisTakesAnyBody gives the largest and the most tangled bodies, and many secrets.
func TestADiagnosisTakesAnyBody(t *testing.T) {
	for name, body := range map[string]string{
		"large":  `{"data":"` + strings.Repeat("ü/<", 40_000) + `"}`,
		"deep":   strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000),
		"small":  event,
		"wide":   "[" + strings.Repeat("1,", 60_000) + "1]",
		"a bomb": compressed(strings.Repeat("0", 4<<20)),
	} {
		t.Run(name, func(t *testing.T) {
			d := arrived(body, signed("some other secret", body))
			for n := range 20 {
				d.Secrets = append(d.Secrets, api.NewSecret(fmt.Sprint("another secret ", n)))
			}
			if found := Diagnose(d); found.Cause != Unknown {
				t.Errorf("%+v", found)
			}
		})
	}
}

func FuzzDiagnose(f *testing.F) {
	f.Add([]byte(event), "v0="+strings.Repeat("a", 64))
	f.Add([]byte("\x1f\x8b"), "=")
	f.Add([]byte(`[{"a":"\ud800"}]`), strings.Repeat("A", 43))
	f.Fuzz(func(t *testing.T, body []byte, value string) {
		found := Diagnose(arrived(string(body), header(value)))
		if right := Of(api.NewSecret(secret), body).String() == value; found.Valid != right {
			t.Errorf("%q with %q: %+v", body, value, found)
		}
	})
}
