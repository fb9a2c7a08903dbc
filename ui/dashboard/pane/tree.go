package pane

import (
	"strconv"

	"github.com/tidwall/gjson"

	"tillwatch/api"
)

// node is a line of a JSON tree.
type node struct {
	depth  int
	key    string // with quotes and colon, or the index in an array
	value  string // JSON of a leaf; opening bracket of a branch
	end    string // closing bracket of a branch
	size   int    // number of members of a branch
	branch bool
}

// mostNodes bounds the nodes of a body.
const mostNodes = 4000

// treeOf divides a body into nodes, masked by [api.Masked] or, if personal data is shown,
// by [api.Revealed].
func treeOf(body []byte, revealed bool) (nodes []node) {
	mask := api.Masked
	if revealed {
		mask = api.Revealed
	}
	if v := gjson.ParseBytes(mask(body)); v.IsObject() || v.IsArray() {
		nodes = appendNode(nil, v, node{})
	}
	return nodes
}

// appendNode appends v and its members.
func appendNode(nodes []node, v gjson.Result, n node) []node {
	if len(nodes) >= mostNodes {
		return nodes
	}
	if !v.IsObject() && !v.IsArray() {
		n.value = v.Raw
		return append(nodes, n)
	}
	n.branch, n.value, n.end = true, "{", "}"
	if v.IsArray() {
		n.value, n.end = "[", "]"
	}
	at, i := len(nodes), 0
	nodes = append(nodes, n)
	v.ForEach(func(key, value gjson.Result) bool {
		child := node{depth: n.depth + 1, key: key.Raw + ": "}
		if v.IsArray() {
			child.key = "[" + strconv.Itoa(i) + "]: "
		}
		nodes = appendNode(nodes, value, child)
		i++
		return true
	})
	nodes[at].size = i
	return nodes
}
