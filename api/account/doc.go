// Package account keeps the live picture of one account: what is known of its
// intents, shipments, events and quota, how it was learnt and how old it is.
//
// An event is a hint, a read is the truth. Facts are merged by version, never by
// the order in which they arrive: reads by when the request was sent, events by
// createdAt. States only move forward.
//
// A [Store] holds the picture under one lock. Its parts keep what is known, each of
// one thing: intents, shipments, events, the events that are missing, requests, the
// health of the service, its lists, the feed, the day, who spends, and alerts. All of
// them make their versions and notices by the same news. The store carries what one
// part learns to the others.
//
// A [Watcher] keeps a store right and fresh: it follows a [Feed], plans reads by a
// schedule, and takes the most urgent one from its queue.
package account
