// Package account keeps the live picture of one account: what is known of its
// intents, shipments, events and quota, how it was learnt and how old it is.
//
// An event is a hint, a read is the truth. Facts are merged by version, never by
// the order in which they arrive: reads by when the request was sent, events by
// createdAt. States only move forward.
package account
