// A complete Plyhouse bot: protocol v1 over the subprotocol plyhouse.v1+json, with the standard
// library alone.
//
// Usage: bot --server URL --token TOKEN --seek GAME [--rated] [--bot NAME] [--time-control T]
// [--matches N], or bot --stdio, which speaks by lines on standard input and output.
// Exit codes: 0 all matches played, 1 no server, 2 wrong options, 4 refused.
package main

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"time"
)

const firstAttempts = 6

var fatal = map[string]bool{
	"auth/bad_token": true, "auth/revoked": true, "auth/disabled": true, "auth/scope": true,
	"auth/bad_name": true, "auth/limit": true, "auth/replaced": true, "protocol/version": true,
}

// choose picks an action: your bot begins here. This one plays at random, in every game.
func choose(seen observation) string {
	return seen.Legal[random(len(seen.Legal))]
}

// An observation is what your seat sees. Add the fields of your game: its page lists them.
type observation struct {
	Seat  int      `json:"seat"`
	Legal []string `json:"legal"`
}

// ---------------------------------------------------------------------------- the messages

type fields map[string]any

type outcome struct {
	Termination string    `json:"termination"`
	Returns     []float64 `json:"returns"`
}

type snapshot struct {
	Match       string      `json:"match"`
	Status      string      `json:"status"`
	Seat        int         `json:"seat"`
	Ply         int         `json:"ply"`
	YourTurn    bool        `json:"your_turn"`
	Observation observation `json:"observation"`
	Outcome     outcome     `json:"outcome"`
}

// A message has the fields of every type that this bot reads; the others stay zero.
type message struct {
	Type        string      `json:"type"`
	ID          int         `json:"id"`
	Re          int         `json:"re"`
	Match       string      `json:"match"`
	Ply         int         `json:"ply"`
	Observation observation `json:"observation"`
	Outcome     outcome     `json:"outcome"`
	Snapshot    snapshot    `json:"snapshot"`
	Matches     []snapshot  `json:"matches"`
	Player      string      `json:"player"`
	Bot         string      `json:"bot"`
	Session     string      `json:"session"`
	HeartbeatMS int         `json:"heartbeat_ms"`
	Challenge   string      `json:"challenge"`
	Rated       bool        `json:"rated"`
	Code        string      `json:"code"`
	Message     string      `json:"message"`
}

type bot struct {
	server, token, name, game, timeControl string
	wanted                                 int

	socket   *socket
	seats    map[string]int // our seat in each running match
	over     map[string]bool
	requests map[int]string // the types of the open requests
	lastID   int
	session  string
	failures int
	rated    bool
	stdio    bool
	seeking  bool
	leaving  bool
}

func main() {
	b := &bot{seats: map[string]int{}, over: map[string]bool{}}
	flag.StringVar(&b.server, "server", "http://127.0.0.1:8765", "address of the server")
	flag.StringVar(&b.token, "token", "", "token of your player")
	flag.StringVar(&b.name, "bot", "go", "name of this bot")
	flag.StringVar(&b.game, "seek", "", "game to seek matches of")
	flag.StringVar(&b.timeControl, "time-control", "move:2", "time control of these matches")
	flag.BoolVar(&b.rated, "rated", false, "seek matches that count for the leaderboard")
	flag.BoolVar(&b.stdio, "stdio", false, "speak by lines on standard input and output")
	flag.IntVar(&b.wanted, "matches", 1, "number of matches to play")
	flag.Parse()
	if flag.NArg() > 0 {
		quit(2, "unknown option: "+flag.Arg(0))
	}
	if b.stdio {
		b.socket = lines()
		os.Stdout = os.Stderr // standard output has the messages
		b.talk()
		return
	}
	if b.token == "" {
		quit(2, "give the token of your player with --token")
	}
	b.run()
}

// run connects, and connects again after every break, waiting longer each time.
func (b *bot) run() {
	for {
		why := b.connected()
		if b.leaving {
			quit(0, "all matches played")
		}
		b.failures++
		if b.session == "" && b.failures >= firstAttempts {
			quit(1, fmt.Sprintf("no Plyhouse server at %s: %v", b.server, why))
		}
		longest := 30_000
		if b.failures <= 6 {
			longest = 500 << (b.failures - 1)
		}
		wait := time.Duration(longest/2+random(longest/2+1)) * time.Millisecond
		fmt.Printf("connection lost (%v); next attempt in %v\n", why, wait)
		time.Sleep(wait)
	}
}

// connected plays over one connection until it breaks, and returns the reason.
func (b *bot) connected() error {
	var err error
	if b.socket, err = open(b.server, "plyhouse.v1+json"); err != nil {
		return err
	}
	defer b.socket.conn.Close()
	return b.talk()
}

// talk says hello, and handles messages until there are no more; it returns why.
func (b *bot) talk() error {
	var err error
	b.requests = map[int]string{}
	b.seeking = false // the server withdraws the seeks of a lost connection
	games := []string{}
	if b.game != "" {
		games = append(games, b.game)
	}
	b.request("hello", fields{
		"token": b.token, "bot": b.name, "games": games, "client": "go-example/1.0",
		// The server may not have noticed yet that the old connection is gone.
		"session": b.session, "takeover": b.session != "",
	})
	messages := make(chan message, 16)
	go func() { // reads, and answers pings also while your bot thinks
		defer close(messages)
		for {
			var m message
			if err = b.socket.receive(&m); err != nil {
				return
			}
			if m.Type == "welcome" {
				b.socket.patience = time.Duration(2*m.HeartbeatMS+1000) * time.Millisecond
			}
			if m.Type == "ping" {
				b.socket.send(fields{"type": "pong", "re": m.ID})
			} else {
				messages <- m
			}
		}
	}()
	for m := range messages {
		b.handle(m)
	}
	return err
}

// request sends a request; the answer has its id in Re.
func (b *bot) request(kind string, all fields) {
	b.lastID++
	b.requests[b.lastID] = kind
	all["type"], all["id"] = kind, b.lastID
	b.socket.send(all)
}

func (b *bot) handle(m message) {
	answered := b.requests[m.Re]
	delete(b.requests, m.Re)
	switch m.Type {
	case "welcome":
		b.welcome(m)
	case "match":
		b.enter(m.Snapshot)
	case "turn":
		b.play(m.Match, m.Ply, m.Observation)
	case "finished":
		b.finished(m.Match, m.Outcome)
	case "challenged":
		// The challenger chooses the clock, so rated matches come by our own seeks only.
		b.request("answer", fields{"challenge": m.Challenge, "accept": !m.Rated})
	case "notice":
		fmt.Println("notice", m.Message)
	case "error":
		shown := m.Code + ": " + m.Message
		if fatal[m.Code] || (answered == "hello" && b.session == "") {
			quit(4, shown)
		}
		if answered == "hello" { // the server lacks its database, say: our matches wait
			fmt.Println("refused", answered+":", shown)
			b.socket.conn.Close()
			return
		}
		if answered == "seek" {
			quit(1, "cannot seek: "+shown)
		}
		fmt.Println("refused", answered+":", shown) // a late answer, for instance
	} // others are ok, accepted, update, and messages of newer servers
}

func (b *bot) welcome(m message) {
	fmt.Printf("connected as %s/%s\n", m.Player, m.Bot)
	b.session, b.failures = m.Session, 0
	running := map[string]bool{}
	for _, each := range m.Matches {
		running[each.Match] = true
		b.enter(each)
	}
	for id := range b.seats {
		if !running[id] { // it ended while we were away
			b.finished(id, outcome{Termination: "unknown"})
		}
	}
	b.seek()
}

// seek asks for the matches that are missing.
func (b *bot) seek() {
	missing := b.wanted - len(b.over) - len(b.seats)
	if b.seeking || missing <= 0 || b.game == "" {
		return
	}
	b.seeking = true
	b.request("seek", fields{"game": b.game, "time_control": b.timeControl, "rated": b.rated,
		"count": missing})
}

// enter takes a match as the server shows it: at its beginning, or after a reconnect.
func (b *bot) enter(s snapshot) {
	if b.over[s.Match] {
		return
	}
	b.seats[s.Match] = s.Seat
	if s.Status == "finished" {
		b.finished(s.Match, s.Outcome)
	} else if s.Status == "waiting" {
		// Our part of the randomness: with it, the server alone cannot choose the dice.
		b.request("ready", fields{"match": s.Match, "nonce": hex.EncodeToString(randomBytes(16))})
	} else if s.YourTurn {
		b.play(s.Match, s.Ply, s.Observation)
	}
}

func (b *bot) play(id string, ply int, seen observation) {
	b.request("act", fields{"match": id, "ply": ply, "action": choose(seen)})
}

func (b *bot) finished(id string, end outcome) {
	seat, ours := b.seats[id]
	if !ours {
		return
	}
	delete(b.seats, id)
	b.over[id] = true
	own := "?"
	if seat < len(end.Returns) {
		own = fmt.Sprint(end.Returns[seat])
	}
	fmt.Printf("finished %s: %s, we got %s\n", id, end.Termination, own)
	if len(b.over) >= b.wanted && len(b.seats) == 0 {
		b.leaving = true
		b.request("bye", fields{})
	}
}

func quit(code int, line string) {
	fmt.Println(line)
	os.Exit(code)
}
