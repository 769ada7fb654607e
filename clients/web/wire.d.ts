// Types of what comes over the wire, for checking alone: nothing of this is loaded by a page.
// Written by `python -m tests.web.make_types` from the protocol's schema and games/scene.py.

declare namespace Scenes {
  interface Cell { text: string; owner: number | null; shape: string; action: string | null; label: string; highlight: boolean; name: string; face: string; count?: number; won?: boolean; joins?: string; faint?: boolean; ground?: string; corner?: string; tokens?: number[]; lines?: string[] }
  interface Grid { kind: "grid"; rows: Cell[][]; row_labels: string[]; column_labels: string[]; label: string; look: string; theme?: string; bottom?: number | null; ends?: Cell[] }
  interface Card { text: string | null; action: string | null; label: string; rank?: string; suit?: string; shape?: string; highlight?: boolean; faint?: boolean }
  interface Hand { kind: "hand"; label: string; cards: Card[]; seat: number | null; look?: string }
  interface Dice { kind: "dice"; label: string; values: number[]; seat?: number | null }
  interface Counter { kind: "counter"; label: string; value: number; target: number | null; seat: number | null; look?: string; unit?: string }
  interface Tray { kind: "tray"; label: string; pieces: Cell[]; seat: number | null }
  interface Placing { kind: "placing"; label: string; pieces: Cell[]; actions: string[]; placed: string[]; worth: number[]; seat: number | null; give?: string; spots?: string[] }
  interface Laying { kind: "laying"; label: string; lengths: number[]; seat: number | null }
  interface Button { kind: "button"; label: string; action: string; via: string[]; pairs?: boolean; dice?: number[]; key?: string; shape?: string; aside?: boolean; place?: number; amount?: number }
  interface Text { kind: "text"; text: string; seat?: number | null; look?: string }
  type Element = Grid | Hand | Dice | Counter | Tray | Placing | Laying | Button | Text;
  interface Scene { elements: Element[]; status: string; seat_to_move: number | null; seats: string[]; viewer?: number | null }
}

declare namespace Messages {
  interface AcceptDraw { type: "accept_draw"; id: number; match: string }
  interface Accepted { type: "accepted"; re: number; match: string; ply: number; events?: Event[]; clocks?: ClockState[]; ledger?: LedgerEntry | null; duplicate?: boolean; info_refused?: string }
  interface Act { type: "act"; id: number; match: string; ply: number; action: string; info?: { [key: string]: unknown } }
  interface Answer { type: "answer"; id: number; challenge: string; accept: boolean; reason?: string }
  interface Bye { type: "bye"; id: number }
  interface Challenge { type: "challenge"; id: number; opponent: string; game: string; time_control: string; rated?: boolean; seat?: number | null; mirrored?: boolean; others?: string[]; help?: "" | "actions" | "position" | "rules" }
  interface ChallengeClosed { type: "challenge_closed"; challenge: string; reason: "accepted" | "declined" | "expired" | "withdrawn"; detail?: string }
  interface Challenged { type: "challenged"; challenge: string; opponent: string; game: string; time_control: string; rated?: boolean; seat?: number | null; expires_ms?: number; others?: string[] }
  type ClientMessage = Hello | Register | Seek | Unseek | Challenge | Answer | Ready | Act | Resign | OfferDraw | AcceptDraw | DeclineDraw | Say | Sync | Watch | Unwatch | Ping | Pong | Bye;
  interface ClockState { seat: number; remaining_ms: number; running?: boolean; periods?: number | null; bank_ms?: number | null }
  interface DeclineDraw { type: "decline_draw"; id: number; match: string }
  interface DrawDeclined { type: "draw_declined"; match: string; seat: number }
  interface DrawOffered { type: "draw_offered"; match: string; seat: number }
  interface Error { type: "error"; code: string; message: string; re?: number | null; match?: string; legal?: string[]; fatal?: boolean; ply?: number | null }
  interface Event { ply: number; seat: number; action?: string | null; ms?: number | null; display?: string }
  interface Finished { type: "finished"; match: string; outcome: Outcome; events?: Event[]; record_url?: string; pairing_done?: boolean; seed?: string }
  interface Hello { type: "hello"; id: number; token: string; bot?: string; games?: string[]; client?: string; updates?: boolean; scenes?: boolean; max_matches?: number; session?: string; takeover?: boolean; version?: string; protocol?: string; digest?: string; signed_in?: boolean }
  interface LedgerEntry { ply: number; seat: number; thought_ms: number; lag_refunded_ms: number; stall_ms: number; charged_ms: number; remaining_ms: number }
  interface Limits { max_frame?: number; max_matches?: number }
  interface MatchMessage { type: "match"; snapshot: MatchSnapshot; re?: number | null }
  interface MatchSnapshot { match: string; pairing: string; game: string; time_control: string; rated: boolean; seat: number | null; players: SeatInfo[]; status: "finished" | "running" | "waiting"; ply: number; commitment?: string; nonces?: string[]; illegal_rule?: "forfeit" | "retry"; events?: Event[]; observation?: Observation; clocks?: ClockState[]; your_turn?: boolean; deadline_ms?: number | null; scene?: Scenes.Scene | null; outcome?: Outcome | null; draw_offers?: number[] }
  interface Notice { type: "notice"; code: string; message: string; match?: string | null; seat?: number | null; remaining_ms?: number | null; count?: number | null }
  interface Observation { seat: number | null; to_move: number; legal: string[] }
  interface OfferDraw { type: "offer_draw"; id: number; match: string }
  interface Ok { type: "ok"; re: number; seek?: string; challenge?: string }
  interface Outcome { termination: "aborted" | "bot_crash" | "disconnect" | "draw_agreed" | "flag_fall" | "illegal_action" | "no_answer" | "no_show" | "normal" | "resignation" | "server_fault"; returns: number[]; seat?: number | null; reason?: string }
  interface Ping { type: "ping"; id: number }
  interface Pong { type: "pong"; re: number }
  interface Ready { type: "ready"; id: number; match: string; nonce?: string }
  interface Register { type: "register"; id: number; player: string }
  interface Registered { type: "registered"; re: number; player: string; token: string }
  interface Resign { type: "resign"; id: number; match: string; reason?: "bot_crash" | "no_answer" | "resignation"; detail?: string }
  interface Revealed { type: "revealed"; pairing: string; seed: string }
  interface Said { type: "said"; match: string; seat: number; phrase: "good_luck" | "oops" | "thanks" | "well_played" }
  interface Say { type: "say"; id: number; match: string; phrase: "good_luck" | "oops" | "thanks" | "well_played" }
  interface SeatInfo { player: string; bot?: string; version?: string; rating?: number | null; kind?: string }
  interface Seek { type: "seek"; id: number; game: string; time_control: string; rated?: boolean; count?: number; mirrored?: boolean; invitation?: string; help?: "" | "actions" | "position" | "rules" }
  type ServerMessage = Welcome | Registered | Ok | Error | MatchMessage | Turn | Accepted | Update | DrawOffered | DrawDeclined | Said | Finished | Revealed | Challenged | ChallengeClosed | Ping | Pong | Notice;
  interface Sync { type: "sync"; id: number; match: string }
  interface Turn { type: "turn"; match: string; ply: number; events?: Event[]; observation?: Observation; clocks?: ClockState[]; deadline_ms?: number; scene?: Scenes.Scene | null; retry?: boolean }
  interface Unseek { type: "unseek"; id: number; seek: string }
  interface Unwatch { type: "unwatch"; id: number; match: string }
  interface Update { type: "update"; match: string; ply: number; events?: Event[]; observation?: Observation; clocks?: ClockState[]; scene?: Scenes.Scene | null; info?: { [key: string]: unknown } | null }
  interface Watch { type: "watch"; id: number; match: string }
  interface Welcome { type: "welcome"; re: number; player: string; bot: string; session: string; protocol: string; server: string; time_ms: number; heartbeat_ms: number; limits?: Limits; matches?: MatchSnapshot[] }
}

declare namespace Answers {
  interface BotReview { bot: string; seconds: number; games: ValueLost[] }
  interface Chances { match: string; game: string; tables: Possible[][]; nodes: number[]; counters: number[] }
  interface ChangedKey { key: string; old: string; new: string; effect: string; refused: string }
  type ClockState = Messages.ClockState;
  interface CompetitionCost { name: string; entries: number; endless: boolean; games: GameCost[]; matches: number; core_hours: number; at_a_time: number; end_ms: number | null; hours?: number; typical_hours?: number | null; typical_end_ms?: number | null; notes?: string[] }
  interface EndedFinal { competition: string; name: string; status: string; games: string[]; time_control: string; format: string; board: string; rules: string; entries_per_student: number; opens_ms: number | null; freezes_ms: number | null; final_ms: number | null; finished_ms: number | null; rehearsal?: boolean; practice?: boolean; practice_of?: string; zone?: string; unplayed: string[] }
  interface Entry { entry: string; version: string; digest: string; chosen: boolean; baseline: boolean; status: string; connected: boolean; next_version?: string; next_digest?: string; check?: string; check_text?: string; days_late?: number; penalty?: number; hosted?: boolean; missing?: string[] }
  type Event = Messages.Event;
  interface Failure { match: string; ply: number; seat: number; termination: string; reason: string; detail: string }
  interface GameCost { game: string; matches: number; seconds: number; core_hours: number; measured: number; source: string; typical_seconds?: number | null }
  interface Info { value?: number | null; depth?: number | null; nodes?: number | null; pv?: string[]; text?: string; live?: boolean }
  interface LagPolicy { per_move_cap_ns?: number; total_cap_ns?: number; vouched_per_move_ns?: number; busy_per_move_ns?: number; busy_total_ns?: number }
  interface Match { match: string; pairing: string; game: string; time_control: string; rated: boolean; status: string; ply: number; seats: Seat[]; termination: string; reason: string; created_ms: number; started_ms: number | null; finished_ms: number | null; record: string; void_reason?: string | null; snapshot?: MatchSnapshot | null; replaced?: boolean; kind?: string }
  interface MatchSnapshot { match: string; pairing: string; game: string; time_control: string; rated: boolean; seat: number | null; players: SeatInfo[]; status: "finished" | "running" | "waiting"; ply: number; commitment?: string; nonces?: string[]; illegal_rule?: "forfeit" | "retry"; events?: Event[]; observation?: { [key: string]: unknown }; clocks?: ClockState[]; your_turn?: boolean; deadline_ms?: number | null; scene?: Scenes.Scene | null; outcome?: Outcome | null; draw_offers?: number[] }
  interface Opponent { opponent: string; others: string[] }
  type Outcome = Messages.Outcome;
  interface OwnMatch { match: string; game: string; time_control: string; status: string; opponents: string[] }
  interface Person { player: string; guest: boolean; scopes: string[]; expires_ms: number; matches: OwnMatch[]; guests: boolean; registration: string; levels: string[] }
  interface Position { ply: number; events: Event[]; scene: Scenes.Scene; info?: Info | null }
  interface Possible { text: string; probability: number }
  interface Record { format: string; match: string; pairing: string; game: string; parameters: { [key: string]: unknown }; time_control: string; rated: boolean; illegal_rule: "forfeit" | "retry"; lag: LagPolicy; seats: RecordSeat[]; chance: RecordChance; events: RecordEvent[]; outcome: Outcome | null; max_retries?: number; started_ms?: number | null; finished_ms?: number | null; void_reason?: string | null }
  interface RecordChance { version: number; commitment: string; stream: string; nonces: string[]; seed?: string | null }
  interface RecordEvent { kind: string; ply: number; seat: number; text?: string; thought_ns?: number; lag_ns?: number; stall_ns?: number; charged_ns?: number; remaining_ns?: number; on_clock?: number; info?: Info | null }
  interface RecordSeat { player: string; bot?: string; version?: string }
  interface Rehearsal { competition: string; name: string; status: string; games: string[]; time_control: string; format: string; board: string; rules: string; entries_per_student: number; opens_ms: number | null; freezes_ms: number | null; final_ms: number | null; finished_ms: number | null; rehearsal?: boolean; practice?: boolean; practice_of?: string; zone?: string; left_out: string[] }
  interface Replay { match: string; game: string; seen_by: number | null; open: boolean; plies: number; frames: Position[] }
  interface Review { match: string; game: string; time_control: string; seat: number; player: string; returned: number | null; termination: string; at_fault: boolean; method: string; rule: string; verdict: string; lost_at: number | null; losses: number[]; command: string; seconds: number; plies?: ReviewedPly[]; unit?: string }
  interface ReviewedPly { ply: number; action: string; played: number | null; best_action: string; best: number; drop: number; certainty: string; exact: boolean; lost: boolean; thought_ms: number; lag_ms: number; stall_ms: number; charged_ms: number; remaining_ms: number; refused?: string[] }
  interface Seat { seat: number; player: string; bot: string; version: string; returned: number | null }
  type SeatInfo = Messages.SeatInfo;
  interface Seek { player: string; game: string; time_control: string; rated: boolean; mirrored: boolean; seats: number }
  interface ValueLost { game: string; method: string; matches: number; plies: number; unjudged: number; exact: number; mean: number | null; interval: [number, number] | null; more: number | null; more_interval: [number, number] | null; range: number; faults: { [key: string]: unknown }; unit?: string }
}
