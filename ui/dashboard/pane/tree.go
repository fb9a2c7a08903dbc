package pane

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"tillwatch/api"
)

// node is a line of a JSON tree.
type node struct {
	path   string // of indices; identifies the node
	parent string
	depth  int
	key    string // with quotes and colon, or the index in an array
	value  string // JSON of a leaf; opening bracket of a branch
	end    string // closing bracket of a branch
	size   int    // number of members of a branch
	branch bool
}

// mostNodes bounds the nodes of a body.
const mostNodes = 4000

// treeOf divides a body into nodes, masked by [api.Masked]. If revealed, it shows the
// buyer's personal data, but never payment tokens and secrets.
func treeOf(body []byte, revealed bool) []node {
	masked := gjson.ParseBytes(api.Masked(body))
	if !masked.IsObject() && !masked.IsArray() {
		return nil
	}
	b := treeBuilder{}
	if revealed {
		b.raw = gjson.ParseBytes(body)
		b.gatherTokens(b.raw, false)
	}
	b.add(masked, b.raw, node{}, false, false)
	return b.nodes
}

type treeBuilder struct {
	nodes  []node
	raw    gjson.Result // exists only if personal data is revealed
	tokens []string     // tokens and other secrets in the body; a value that repeats one stays masked
}

// shortestSecret is the least length of a secret: shorter texts are ordinary words.
const shortestSecret = 6

func (b *treeBuilder) gatherTokens(v gjson.Result, secret bool) {
	v.ForEach(func(key, value gjson.Result) bool {
		secret := secret || api.SecretField(key.Str)
		switch {
		case value.IsObject() || value.IsArray():
			b.gatherTokens(value, secret)
		case secret && value.Type == gjson.String && len(value.Str) >= shortestSecret:
			b.tokens = append(b.tokens, value.Str)
		}
		return true
	})
}

// add appends v and its members. raw is the same value in the unmasked body.
func (b *treeBuilder) add(v, raw gjson.Result, n node, personal, secret bool) {
	if len(b.nodes) >= mostNodes {
		return
	}
	if !v.IsObject() && !v.IsArray() {
		n.value = v.Raw
		if personal && !secret && raw.Exists() {
			n.value = b.reveal(v, raw)
		}
		b.nodes = append(b.nodes, n)
		return
	}
	n.branch, n.value, n.end = true, "{", "}"
	if v.IsArray() {
		n.value, n.end = "[", "]"
	}
	at := len(b.nodes)
	b.nodes = append(b.nodes, n)
	raws := raw.Array()
	var rawNames []gjson.Result
	if raw.IsObject() {
		raws = raws[:0]
		raw.ForEach(func(key, value gjson.Result) bool {
			rawNames, raws = append(rawNames, key), append(raws, value)
			return true
		})
	}
	i := 0
	v.ForEach(func(key, value gjson.Result) bool {
		child := node{path: n.path + "/" + strconv.Itoa(i), parent: n.path, depth: n.depth + 1}
		if v.IsArray() {
			child.key = "[" + strconv.Itoa(i) + "]: "
		}
		var was gjson.Result
		if i < len(raws) {
			was = raws[i]
		}
		personal, secret := personal, secret
		if v.IsObject() {
			child.key = key.Raw + ": "
			name := key.Str
			if i < len(rawNames) {
				name = rawNames[i].Str
			}
			personal, secret = personal || api.PersonalField(name), secret || isSecret(name)
		}
		b.add(value, was, child, personal, secret)
		i++
		return true
	})
	b.nodes[at].size = i
}

// reveal returns an unmasked personal value, safe to draw.
func (b *treeBuilder) reveal(v, raw gjson.Result) string {
	for _, token := range b.tokens {
		if strings.Contains(raw.Raw, token) || strings.Contains(raw.Str, token) {
			return v.Raw
		}
	}
	if raw.Type != gjson.String {
		return string(api.Scrub(raw.Raw))
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(string(api.Scrub(raw.Str))) != nil {
		return v.Raw
	}
	return strings.TrimSpace(out.String())
}

// isSecret reports whether a field and its members must never be shown.
func isSecret(key string) bool {
	name := strings.ToLower(key)
	return api.SecretField(key) || strings.Contains(name, "payment") || strings.Contains(name, "card")
}
