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
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

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

// inGo is body as Go writes what it has parsed.
func inGo(body string) string {
	var value any
	if err := json.Unmarshal([]byte(body), &value); err != nil {
		panic(err)
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func inUTF16(body string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(body)) {
		b.WriteByte(byte(unit))
		b.WriteByte(byte(unit >> 8))
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
	python := `{"id": "evt_1", "object": "event", "data": {"title": "Z\u00fcrich <b>", "tags": [1, 2.50]}}`
	plain := `{"id":"evt_1","object":"event","data":{"title":"Zürich <b>","tags":[1,2.50]}}`
	hexSecret := "00112233445566778899aabbccddeeff"
	decodedHex, _ := hex.DecodeString(hexSecret)
	with := func(d Delivery, change func(*Delivery)) Delivery { change(&d); return d }
	own := func(d Delivery, key string) Delivery { d.Secrets = []api.Secret{api.NewSecret(key)}; return d }
	for _, test := range []struct {
		name  string
		d     Delivery
		cause Cause
		says  string
	}{
		{"no prefix", arrived(event, header(digits)), Prefix, "v0= of the signature is missing"},
		{"capitals and no prefix", arrived(event, header(strings.ToUpper(digits))), Prefix, "missing, and its digits are in capitals"},
		{"GitHub's prefix", arrived(event, header("sha256="+digits)), Prefix, `"sha256="`},
		{"quotes around it", arrived(event, header(`"`+right+`"`)), Prefix, "quotes around the signature"},
		{"digits in capitals", arrived(event, header("v0="+strings.ToUpper(digits))), UpperCase, "capitals"},
		{"Base64 digits", arrived(event, header("v0="+base64.StdEncoding.EncodeToString(raw))), Base64, "Base64"},
		{"URL-safe Base64 without prefix", arrived(event, header(base64.RawURLEncoding.EncodeToString(raw))), Base64, "Base64"},
		{"two signatures", arrived(event, header(right, "v0="+strings.Repeat("0", 64))), Repeated, "exactly one"},
		{"the secret ends in a line break there", arrived(event, signed(secret+"\n", event)), SecretSpace, "ends in a line break at the sender"},
		{"the secret has a blank before it there", arrived(event, signed(" "+secret, event)), SecretSpace, "at the sender"},
		{"the secret ends in a line break here", own(arrived(event, signed(secret, event)), secret+"\r\n"), SecretSpace, "the secret here has blanks"},
		{"the secret is in quotes here", own(arrived(event, signed(secret, event)), `"`+secret+`"`), SecretSpace, "the secret here has quotes"},
		{"the secret is decoded from hexadecimal digits there", own(arrived(event, signed(string(decodedHex), event)), hexSecret), SecretEncoding, "hexadecimal"},
		{"the secret is decoded from hexadecimal digits here", own(arrived(event, signed(hexSecret, event)), string(decodedHex)), SecretEncoding, "hexadecimal"},
		{"the secret is decoded from Base64 there", own(arrived(event, signed("a secret of sixteen", event)), base64.StdEncoding.EncodeToString([]byte("a secret of sixteen"))), SecretEncoding, "Base64"},
		{"the secret loses whsec_", arrived(event, signed(strings.TrimPrefix(secret, "whsec_"), event)), SecretEncoding, "leaves out"},
		{"the lines of a rotation are one secret there", with(arrived(event, signed(secret+"\nthe second of two secrets\n", event)), func(d *Delivery) {
			d.Secrets = append(d.Secrets, api.NewSecret("the second of two secrets"))
		}), SecretSpace, "all lines"},
		{"a secret that was rotated out", with(arrived(event, signed("the secret before", event)), func(d *Delivery) {
			d.Others = []Other{{api.NewSecret("the secret before"), OldSecret, "before the rotation"}}
		}), OldSecret, "before the rotation"},
		{"the secret of another environment", with(arrived(event, signed("the live secret", event)), func(d *Delivery) {
			d.Others = []Other{{api.NewSecret("the staging secret"), OtherSecret, "x"}, {api.NewSecret("the live secret"), OtherSecret, `the profile "live"`}}
		}), OtherSecret, `the profile "live"`},
		{"Express writes it again", arrived(plain, signed(secret, python)), Rewritten, "signed with a blank behind each comma and colon (Python's json.dumps), with non-ASCII as"},
		{"Flask writes it again", arrived(python, signed(secret, plain)), Rewritten, "arrived with a blank behind each comma and colon (Python's json.dumps)"},
		{"Go writes it again", arrived(inGo(event), signed(secret, strings.Replace(event, `44.50`, `44.5`, 1)[:len(event)-1-len(`,"data":{"title":"Zürich <b>","price":44.50,"tags":[],"stock":null}`)]+"}")), Unknown, ""},
		{"Go sorts a thin event", arrived(`{"createdAt":"x","id":"evt_1","object":"event","source":{"id":"a<b","type":"product"},"type":"t"}`,
			signed(secret, `{"id":"evt_1","object":"event","type":"t","createdAt":"x","source":{"type":"product","id":"a<b"}}`)), Rewritten, "(a map in Go"},
		{"PHP writes it again", arrived(strings.NewReplacer("/", `\/`, "ü", `\u00fc`).Replace(event), signed(secret, event)), Rewritten, "PHP's json_encode"},
		{"a proxy indents it", arrived(indented(event, "", "  ")+"\n", signed(secret, event)), Rewritten, "arrived indented by 2"},
		{"the sender indents what it signs", arrived(event, signed(secret, indented(strings.ReplaceAll(event, "[]", "[1]"), "", "\t"))), Unknown, ""},
		{"the sender signs it indented by 4", arrived(plain, signed(secret, indented(plain, "", "    "))), Rewritten, "signed indented by 4"},
		{"encoded twice", arrived(`"{\"id\":\"evt_1\"}"`, signed(secret, `{"id":"evt_1"}`)), Rewritten, "encoded twice"},
		{"a line break is cut off", arrived(event, signed(secret, event+"\n")), LineBreaks, "cut off"},
		{"a line break is put on", arrived(event+"\n", signed(secret, event)), LineBreaks, "sent with a line break"},
		{"CRLF", arrived(strings.ReplaceAll(indented(event, "", "  "), "\n", "\r\n"), signed(secret, indented(event, "", "  "))), LineBreaks, "CRLF"},
		{"UTF-16 arrives", arrived(inUTF16(event), signed(secret, event)), Encoding, "arrived in UTF-16"},
		{"UTF-16 was signed", arrived(event, signed(secret, inUTF16(event))), Encoding, "signed in UTF-16"},
		{"Latin-1 arrives", arrived(strings.ReplaceAll(event, "ü", "\xfc"), signed(secret, event)), Encoding, "Latin-1"},
		{"Latin-1 was signed", arrived(event, signed(secret, strings.ReplaceAll(event, "ü", "\xfc"))), Encoding, "Latin-1"},
		{"UTF-8 taken for Latin-1", arrived(strings.ReplaceAll(event, "ü", "Ã¼"), signed(secret, event)), Encoding, "Latin-1"},
		{"a byte order mark arrives", arrived(byteOrderMark+event, signed(secret, event)), ByteOrderMark, "put before"},
		{"a byte order mark was signed", arrived(event, signed(secret, byteOrderMark+event)), ByteOrderMark, "taken away"},
		{"it arrives compressed", arrived(compressed(event), signed(secret, event)), Compressed, "before it was compressed"},
		{"it was signed compressed", arrived(event, signed(secret, compressed(event))), Compressed, "has decompressed it"},
		{"the header says that it is compressed", with(arrived(event, signed(secret, "what a zip program wrote")), func(d *Delivery) {
			d.Header.Set("Content-Encoding", "gzip")
		}), Compressed, "probably"},
		{"the header says that it is compressed, and it is", with(arrived("x\x9c\x03\x00\x00\x00\x00\x01", signed(secret, event)), func(d *Delivery) {
			d.Header.Set("Content-Encoding", "deflate")
		}), Compressed, "probably signed before"},
		{"an empty body was signed", arrived(event, signed(secret, "")), EmptyBody, "signed an empty body"},
		{"an empty body arrives", arrived("", signed(secret, event)), EmptyBody, "the body is empty"},
		{"Slack's way", arrived(event, signed(secret, fmt.Sprintf("v0:%d:%s", noon.Unix(), event))), SignedTimestamp, "Slack"},
		{"Stripe's way", arrived(event, signed(secret, fmt.Sprintf("%d.%s", noon.Unix(), event))), SignedTimestamp, "Stripe"},
		{"Svix's way", arrived(event, signed(secret, fmt.Sprintf("evt_1.%d.%s", noon.Unix(), event))), SignedTimestamp, "Standard Webhooks"},
		{"no signature", arrived(event, header()), Missing, "no x-svc-signature"},
		{"a prefix without a signature", arrived(event, header("v0=")), Missing, "holds no signature"},
		{"an empty signature", arrived(event, header(" ")), Missing, "holds no signature"},
		{"a signature that was cut", arrived(event, header("v0=6a3a04855be62864")), Missing, "holds no signature"},
		{"a clock that is off, and a secret that is unknown", with(arrived(event, signed("some other secret", event)), func(d *Delivery) { d.Now = noon.Add(-3 * time.Hour) }), Unknown, "the secret is probably another one, or the content was changed: nothing that was tried fits; besides, the timestamp is 3h ahead of this clock"},
		{"two faults", arrived(event, header(strings.TrimPrefix(Of(api.NewSecret(secret+"\n"), []byte(event)).String(), Version))), SecretSpace, "besides, the prefix"},
		{"another secret", arrived(event, signed("some other secret", event)), Unknown, "the secret is probably another one"},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := Diagnose(test.d)
			if found.Valid || found.Cause != test.cause || !strings.Contains(found.Text, test.says) {
				t.Errorf("%+v, want %s: %s", found, test.cause, test.says)
			}
			proven := test.cause != Unknown && test.cause != Missing && test.cause != Clock && !strings.HasPrefix(test.says, "probably") && test.says != "the body is empty"
			if found.Proven != proven {
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
	if found := Diagnose(old); !found.Valid || found.Cause != Clock || found.Proven {
		t.Errorf("an hour later: %+v", found)
	}
	old.Now = noon.Add(54268 * time.Hour)
	if found := Diagnose(old); !strings.HasPrefix(found.Text, "the timestamp is 2261d4h behind this clock: ") {
		t.Errorf("years later: %+v", found)
	}
	for _, text := range []string{"yesterday", "1776772800.5", "1776772800123", "99999999999999999999"} {
		odd := arrived(event, signed(secret, event))
		odd.Header.Set("x-svc-timestamp", text)
		if found := Diagnose(odd); !found.Valid || found.Cause != Clock || found.Proven || !strings.HasPrefix(found.Text, fmt.Sprintf("the timestamp cannot be read: %q is not a Unix time", text)) {
			t.Errorf("%s: %+v", text, found)
		}
	}
	second := arrived(event, signed("the second of two secrets", event))
	second.Secrets = append(second.Secrets, api.NewSecret("the second of two secrets"))
	if found := Diagnose(second); !found.Valid || found.Cause != OldSecret || !strings.Contains(found.Text, "secret 2 of the 2") {
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

// TestADiagnosisIsBounded gives the largest and the most tangled bodies, and many
// secrets.
func TestADiagnosisIsBounded(t *testing.T) {
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

// A body is parsed once, not anew for each of the many ways in which it may have been written.
func TestAWideBodyTakesLittleMemory(t *testing.T) {
	const members, most = 6_000, 100 << 20
	d := arrived(wide(members), header(Version+strings.Repeat("0", 64)))
	d.Effort = 256 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	found := Diagnose(d)
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > most || found.Cause != Unknown {
		t.Errorf("a body of %d bytes takes %d MiB: %+v", len(d.Body), took>>20, found)
	}
}

// wide is an object with many members.
func wide(members int) string {
	var b strings.Builder
	b.WriteString(`{"id":"evt_1"`)
	for n := range members {
		fmt.Fprintf(&b, `,"member %d":%d`, n, n)
	}
	return b.String() + "}"
}

func TestNoMoreIsTriedThanTheEffortAllows(t *testing.T) {
	d := arrived(event, signed(secret, fmt.Sprintf("%d.%s", noon.Unix(), event)))
	if found := Diagnose(d); found.Cause != SignedTimestamp {
		t.Errorf("%+v", found)
	}
	d.Effort = 20 * (len(event) + 512)
	if found := Diagnose(d); found.Cause != Unknown || !strings.Contains(found.Text, "too large to try all") {
		t.Errorf("after twenty attempts: %+v", found)
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
