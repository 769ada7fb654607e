package main

import (
	"bufio"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// A socket is the client's side of a WebSocket (RFC 6455) for JSON messages.
type socket struct {
	conn     net.Conn
	reader   *bufio.Reader
	writing  sync.Mutex
	patience time.Duration // a server that is silent for longer counts as gone
	lines    io.Writer     // takes messages as lines; nil for a WebSocket
}

// lines makes a socket of standard input and output.
func lines() *socket {
	return &socket{reader: bufio.NewReader(os.Stdin), lines: os.Stdout}
}

func open(server, subprotocol string) (*socket, error) {
	request, err := http.NewRequest("GET", strings.TrimSuffix(server, "/")+"/ws", nil)
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	var conn net.Conn
	if host := request.URL.Hostname(); request.URL.Scheme == "https" {
		conn, err = tls.DialWithDialer(dialer, "tcp", address(host, request.URL.Port(), "443"), nil)
	} else {
		conn, err = dialer.Dial("tcp", address(host, request.URL.Port(), "80"))
	}
	if err != nil {
		return nil, err
	}
	request.Header.Set("Connection", "Upgrade")
	request.Header.Set("Upgrade", "websocket")
	request.Header.Set("Sec-WebSocket-Version", "13")
	request.Header.Set("Sec-WebSocket-Key", base64.StdEncoding.EncodeToString(randomBytes(16)))
	request.Header.Set("Sec-WebSocket-Protocol", subprotocol)
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	request.Write(conn)
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, request)
	if err == nil && response.StatusCode != http.StatusSwitchingProtocols {
		err = fmt.Errorf("the server answered %s", response.Status)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	conn.SetDeadline(time.Time{})
	return &socket{conn: conn, reader: reader, patience: 10 * time.Second}, nil
}

func address(host, port, standard string) string {
	if port == "" {
		port = standard
	}
	return net.JoinHostPort(host, port)
}

const (
	textFrame  = 1
	closeFrame = 8
	pingFrame  = 9
	pongFrame  = 10
)

// send sends a message. A failure shows in receive, so callers do not check for it.
func (s *socket) send(all fields) {
	data, err := json.Marshal(all)
	if err != nil {
		panic(err) // fields hold nothing that JSON cannot
	}
	if s.lines != nil {
		s.writing.Lock()
		defer s.writing.Unlock()
		s.lines.Write(append(data, '\n'))
		return
	}
	s.frame(textFrame, data)
}

func (s *socket) frame(kind byte, data []byte) {
	frame := []byte{128 | kind}
	switch size := len(data); {
	case size < 126:
		frame = append(frame, 128|byte(size))
	case size < 1<<16:
		frame = append(frame, 128|126, byte(size>>8), byte(size))
	default:
		frame = binary.BigEndian.AppendUint64(append(frame, 128|127), uint64(size))
	}
	mask := randomBytes(4)
	frame = append(frame, mask...)
	for index, each := range data {
		frame = append(frame, each^mask[index%4])
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if _, err := s.conn.Write(frame); err != nil {
		s.conn.Close()
	}
}

// receive reads the next message; the error has the reason when the connection is closed.
func (s *socket) receive(into *message) error {
	if s.lines != nil {
		line, err := s.reader.ReadBytes('\n')
		if err != nil {
			return err
		}
		return json.Unmarshal(line, into)
	}
	var all []byte
	for {
		s.conn.SetReadDeadline(time.Now().Add(s.patience))
		head := make([]byte, 2)
		if _, err := io.ReadFull(s.reader, head); err != nil {
			return err
		}
		size := uint64(head[1] & 127)
		if size > 125 { // the size follows in 2 or 8 bytes
			wide := make([]byte, 8)
			if _, err := io.ReadFull(s.reader, wide[8-(2+6*(size-126)):]); err != nil {
				return err
			}
			size = binary.BigEndian.Uint64(wide)
		}
		data := make([]byte, size)
		if _, err := io.ReadFull(s.reader, data); err != nil {
			return err
		}
		switch head[0] & 15 {
		case closeFrame:
			if len(data) > 2 {
				return errors.New(string(data[2:]))
			}
			return io.EOF
		case pingFrame:
			s.frame(pongFrame, data)
		case pongFrame:
		default:
			all = append(all, data...)
			if head[0]&128 != 0 {
				if err := json.Unmarshal(all, into); err != nil {
					quit(1, fmt.Sprintf("cannot read %s: %v", all, err))
				}
				return nil
			}
		}
	}
}

func randomBytes(count int) []byte {
	data := make([]byte, count)
	if _, err := rand.Read(data); err != nil {
		panic(err)
	}
	return data
}

// random returns a whole number from 0 to below.
func random(below int) int {
	return int(binary.BigEndian.Uint64(randomBytes(8)) % uint64(below))
}
