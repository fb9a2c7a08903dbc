// Package quota reads, keeps and spends the quota of an account: the RateLimit
// header fields of IETF draft 8, the state of each bucket, and the pace at which
// requests may go out.
//
// A [Transport] reports each request that passes through it in an [Observation], which shows what others of the
// account spend.
//
// The buckets are shared with production: a waiting person comes first, and what nobody waits for keeps to a share
// of each bucket.
package quota
