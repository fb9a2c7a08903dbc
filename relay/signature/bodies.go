package signature

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// maxPlain bounds the bytes of a decompressed body.
const maxPlain = 1 << 20

// bodyForms undoes changes that may have been made to a body as bytes or as text.
func bodyForms(body []byte) (forms []form) {
	add := func(cause Cause, text string, signed ...[]byte) {
		for _, s := range signed {
			if !bytes.Equal(s, body) {
				forms = append(forms, form{body: s, fault: fault{cause, text}})
			}
		}
	}
	add(EmptyBody, "the sender signed an empty body: it signs before the body is there, or after something has read it", nil)
	add(LineBreaks, "a line break at the end of the body was cut off on the way: hand the raw bytes on",
		append(bytes.Clone(body), '\n'), append(bytes.Clone(body), "\r\n"...))
	add(LineBreaks, "the body was sent with a line break at its end, or blanks around it, and signed without: send the bytes that were signed (curl --data-binary)",
		bytes.TrimSpace(body))
	lines := bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
	add(LineBreaks, "the line breaks of the body were changed to or from CRLF on the way: something takes it for text",
		lines, bytes.ReplaceAll(lines, []byte("\n"), []byte("\r\n")))
	mark := []byte(byteOrderMark)
	add(ByteOrderMark, "a byte order mark was put before the body after it was signed: take it away", bytes.TrimPrefix(body, mark))
	add(ByteOrderMark, "a byte order mark before the body was taken away after it was signed, as decoding to text does: hand the raw bytes on",
		append(bytes.Clone(mark), body...))
	for _, e := range encodings() {
		if signed, err := e.NewEncoder().Bytes(body); err == nil {
			add(Encoding, "the body was signed in "+e.name+" and arrived in UTF-8: sign and check the bytes that are sent, not their text", signed)
		}
		if signed, err := e.NewDecoder().Bytes(body); err == nil {
			add(Encoding, "the body was signed in UTF-8 and arrived in "+e.name+": something takes it for text and encodes it anew", signed)
		}
	}
	if isGzip(body) {
		add(Compressed, "the body was signed before it was compressed: decompress it first, or have the proxy leave it alone", gunzipped(body))
	} else {
		add(Compressed, "the body was signed compressed, and a proxy has decompressed it: have it leave the body alone", gzipped(body))
	}
	var inner string
	if json.Unmarshal(body, &inner) == nil {
		add(Rewritten, "the body arrived as one string of JSON: it was encoded twice, as JSON.stringify of a text does", []byte(inner))
	}
	return forms
}

type named struct {
	encoding.Encoding
	name string
}

func encodings() (all []named) {
	for _, order := range []unicode.Endianness{unicode.LittleEndian, unicode.BigEndian} {
		for _, mark := range []unicode.BOMPolicy{unicode.IgnoreBOM, unicode.UseBOM} {
			all = append(all, named{unicode.UTF16(order, mark), "UTF-16"})
		}
	}
	return append(all, named{charmap.ISO8859_1, "Latin-1"})
}

func isGzip(body []byte) bool { return bytes.HasPrefix(body, []byte{0x1f, 0x8b}) }

// gunzipped decompresses as much of body as is intact.
func gunzipped(body []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return body
	}
	plain, _ := io.ReadAll(io.LimitReader(r, maxPlain)) // a truncated text fits no signature
	return plain
}

// gzipped compresses body as Go does, and programs that compress alike.
func gzipped(body []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(body) // to memory: cannot fail
	_ = w.Close()
	return b.Bytes()
}
