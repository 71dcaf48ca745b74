//! Machines, the network between them and clients, in one thread and in simulated time.

use std::collections::BTreeMap;
use std::time::Duration;

use afterbay_blob_cluster::{
    Action, Body, ClientAnswer, ClientRequest, CompareReason, Message, Node, Now, Refusal, Reply,
    StoreAnswer, StoreOperation,
};
use afterbay_blob_store::{Clock, PartitionId};

use crate::clients::Clients;
use crate::events::Events;
use crate::lives::Lives;
use crate::machine::{Machine, Setup};
use crate::nemesis::Nemesis;
use crate::network::{Address, Network, NetworkSettings};
use crate::random::Random;
use crate::settings::Settings;
use crate::trace::Trace;
use crate::violation::{Law, Violation};

/// Clients are reached under this address.
const CLIENTS: Address = 1000;

/// What happens.
#[derive(Debug)]
pub(crate) enum Event {
    /// A message comes.
    Message { from: Address, to: Address, message: Message },
    /// A client's request comes.
    Request { node: Address, call: u64, request: ClientRequest },
    /// A client gets its answer.
    Answer { call: u64, answer: ClientAnswer },
    /// A client waits no longer.
    GiveUp { call: u64 },
    /// It is a client's turn.
    Turn { client: u32 },
    /// A disk does what it was asked for.
    Store { node: Address, run: u64, call: u64, partition: PartitionId, operation: StoreOperation },
    /// A node hears of it.
    Stored { node: Address, run: u64, call: u64, answer: StoreAnswer },
    /// A node wanted to be woken, at this time of its own clock.
    Wake { node: Address, run: u64, at_ms: u64 },
    /// A node that was down starts, or one that stands goes on.
    Return { node: Address },
    /// The network is whole again.
    Join,
    /// A node hears of the newest map.
    NewMap { node: Address },
    /// Something goes wrong.
    Fault,
    /// It is time to look.
    Mark,
}

impl Event {
    /// The node to which it happens.
    fn node(&self) -> Option<Address> {
        match self {
            Event::Message { to: node, .. }
            | Event::Request { node, .. }
            | Event::Store { node, .. }
            | Event::Stored { node, .. }
            | Event::NewMap { node }
            | Event::Wake { node, .. } => Some(*node),
            _ => None,
        }
    }
}

/// All of it.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) settings: Settings,
    pub(crate) setup: Setup,
    pub(crate) events: Events<Event>,
    pub(crate) machines: Vec<Machine>,
    pub(crate) lives: Lives,
    pub(crate) network: Network,
    pub(crate) clients: Clients,
    pub(crate) nemesis: Nemesis,
    pub(crate) trace: Trace,
    pub(crate) disk_mean: Duration,
    random: Random,
    /// What came for nodes that stand.
    waiting: BTreeMap<Address, Vec<Event>>,
    pub(crate) steps: u64,
}

type Done = Result<(), Violation>;

/// Whether a source says that it has forgotten what came after a token.
fn is_below_horizon(message: &Message) -> bool {
    let Body::Reply(Reply::Changes(pages)) = &message.body else {
        return false;
    };
    pages.iter().any(|(_, page)| {
        matches!(page, Err(Refusal::Compare { reason: CompareReason::BelowHorizon, .. }))
    })
}

impl World {
    pub(crate) fn new(settings: Settings, setup: Setup, trace: Trace) -> Self {
        let seed = settings.seed;
        let mut lives = Lives::default();
        let new = |address| Machine::new(seed, address, lives.begin());
        let machines = (1..=settings.nodes).map(new).collect();
        let network = Network::new(settings.network, Random::new(seed, "network"));
        let clients = Clients::new(settings.load, Random::new(seed, "clients"));
        World {
            disk_mean: settings.disk_mean,
            random: Random::new(seed, "disks"),
            settings,
            setup,
            events: Events::new(),
            machines,
            lives,
            network,
            clients,
            nemesis: Nemesis::new(seed),
            trace,
            waiting: BTreeMap::new(),
            steps: 0,
        }
    }

    pub(crate) fn now(&self) -> Duration {
        self.events.now()
    }

    pub(crate) fn machine(&mut self, address: Address) -> &mut Machine {
        &mut self.machines[address as usize - 1]
    }

    /// Notes what happened.
    pub(crate) fn note(&mut self, what: std::fmt::Arguments<'_>) {
        self.trace.note(self.events.now(), what);
    }

    /// Takes the next event, and does what concerns nodes and clients. What is left for the caller.
    pub(crate) fn step(&mut self) -> Result<Option<Event>, Violation> {
        let Some(event) = self.events.next() else {
            return Ok(None);
        };
        self.steps += 1;
        if let Some(node) = event.node()
            && self.machine(node).is_paused
        {
            self.waiting.entry(node).or_default().push(event);
            return Ok(None);
        }
        match event {
            Event::Message { from, to, message } => {
                let sender = self.machine(from).id.clone();
                self.note(format_args!("n{to} < {sender} {message:?}"));
                let forgotten = is_below_horizon(&message).then(|| self.comparisons(to));
                self.run(to, |node, now| node.on_message(now, &sender, message))?;
                if forgotten.is_some_and(|before| before < self.comparisons(to)) {
                    self.check_forgotten(from, to)?;
                }
            }
            Event::Request { node, call, request } => {
                self.note(format_args!("n{node} < client {call} {request:?}"));
                self.run(node, |node, now| node.on_client(now, call, request))?;
            }
            Event::Stored { node, run, call, answer } if self.machine(node).run == run => {
                self.note(format_args!("n{node} < disk {call} {answer:?}"));
                self.run(node, |node, now| node.on_stored(now, call, answer))?;
            }
            Event::Wake { node, run, at_ms } if self.machine(node).run == run => {
                if let Some(process) = self.machine(node).process_mut()
                    && process.wakes_ms == Some(at_ms)
                {
                    process.wakes_ms = None;
                    self.run(node, Node::on_tick)?;
                }
            }
            Event::Store { node, run, call, partition, operation }
                if self.machine(node).run == run =>
            {
                self.store(node, call, partition, operation)?;
            }
            Event::NewMap { node } => {
                let map = self.setup.map.clone();
                self.note(format_args!("n{node} hears of map {}", map.version));
                self.run(node, |node, now| node.set_map(now, map))?;
            }
            Event::Answer { call, answer } => self.answer(call, answer)?,
            Event::GiveUp { call } => self.give_up(call)?,
            Event::Turn { client } => self.turn(client),
            Event::Join => self.network.join(),
            Event::Return { node } => self.come_back(node)?,
            Event::Stored { .. } | Event::Wake { .. } | Event::Store { .. } => {}
            event @ (Event::Fault | Event::Mark) => return Ok(Some(event)),
        }
        Ok(None)
    }

    /// How many comparisons of whole replicas a node has under way.
    fn comparisons(&mut self, address: Address) -> usize {
        let status = self.machine(address).process().map(|process| process.node.status());
        let replicas = status.into_iter().flat_map(|status| status.replicas);
        replicas.flat_map(|replica| replica.peers).filter(|peer| peer.is_comparing).count()
    }

    /// A node has forgotten deletes that another one has not heard of. It must not, as long as their disks are whole.
    fn check_forgotten(&mut self, from: Address, to: Address) -> Done {
        if [from, to].into_iter().any(|address| self.machine(address).was_damaged) {
            return Ok(());
        }
        let found = format!("n{from} has dropped tombstones that n{to} has not passed");
        Err(Violation::new(Law::Tombstones, None, found))
    }

    /// Lets a node do something, if it runs, and does what it wants.
    fn run(&mut self, address: Address, work: impl FnOnce(&mut Node, Now) -> Vec<Action>) -> Done {
        let now = self.now();
        let machine = self.machine(address);
        machine.clock.show(now);
        let wall_ms = machine.clock.now_ms();
        let Some(process) = machine.process_mut() else {
            return Ok(());
        };
        let at = process.now(now, wall_ms);
        let actions = work(&mut process.node, at);
        self.carry_out(address, actions);
        Ok(())
    }

    /// Does what a node wants.
    pub(crate) fn carry_out(&mut self, address: Address, actions: Vec<Action>) {
        let run = self.machine(address).run;
        for action in actions {
            match action {
                Action::Send { to, message } => {
                    self.note(format_args!("n{address} > {to} {message:?}"));
                    let Some(to) = self.machines.iter().position(|machine| machine.id == to) else {
                        continue;
                    };
                    let to = to as Address + 1;
                    let copies: Vec<_> = self.network.send(address, to).collect();
                    for after in copies {
                        let message = message.clone();
                        self.events.add(after, Event::Message { from: address, to, message });
                    }
                }
                Action::Store { call, partition, operation } => {
                    let after = Duration::from_micros(
                        self.random.around(self.disk_mean.as_micros() as u64 / 2),
                    );
                    let event = Event::Store { node: address, run, call, partition, operation };
                    self.events.add(after, event);
                }
                // Nobody asks a node for a scrub, and without that, none is ended.
                Action::EndScrub { .. } => {}
                Action::Answer { call, answer } => {
                    self.note(format_args!("n{address} > client {call} {answer:?}"));
                    // A client's connection doubles nothing.
                    if let Some(after) = self.network.send(address, CLIENTS).next() {
                        self.events.add(after, Event::Answer { call, answer });
                    }
                }
            }
        }
        self.plan_wake(address);
    }

    /// A node is woken when it wants to be.
    fn plan_wake(&mut self, address: Address) {
        let now = self.now();
        let machine = self.machine(address);
        let run = machine.run;
        machine.clock.show(now);
        let wall_ms = machine.clock.now_ms();
        let Some(process) = machine.process_mut() else {
            return;
        };
        let wake_ms = process.node.next_wake_ms();
        if process.wakes_ms.is_some_and(|planned| planned <= wake_ms) {
            return;
        }
        process.wakes_ms = Some(wake_ms);
        let after = wake_ms.saturating_sub(process.now(now, wall_ms).mono_ms).max(1);
        let event = Event::Wake { node: address, run, at_ms: wake_ms };
        self.events.add(Duration::from_millis(after), event);
    }

    /// A disk does what a node asked it for.
    fn store(
        &mut self,
        address: Address,
        call: u64,
        partition: PartitionId,
        operation: StoreOperation,
    ) -> Done {
        self.note(format_args!("n{address} disk {call} {partition} {operation:?}"));
        let now = self.now();
        let machine = self.machine(address);
        machine.clock.show(now);
        let Some(process) = machine.process() else {
            return Ok(());
        };
        let tokens = match &operation {
            StoreOperation::SaveTokens { tokens, .. } => Some(tokens.clone()),
            _ => None,
        };
        let answer = process.store.execute(partition, operation);
        let failed = process.store.partition(partition).is_some_and(|one| one.failure().is_some());
        let (run, is_stopped) = (machine.run, machine.is_stopped());
        if let (Some(tokens), StoreAnswer::Saved(Ok(_))) = (tokens, &answer) {
            let machine = &mut self.machines[address as usize - 1];
            machine.has_saved(&mut self.lives, partition, &tokens);
        }
        self.count_met_faults(address);
        if is_stopped {
            self.power_fails(address);
            return Ok(());
        }
        if failed {
            self.reopen(address);
            return Ok(());
        }
        let after =
            Duration::from_micros(self.random.around(self.disk_mean.as_micros() as u64 / 2));
        self.events.add(after, Event::Stored { node: address, run, call, answer });
        Ok(())
    }

    /// A request of a client goes to a node.
    pub(crate) fn request(&mut self, node: Address, call: u64, request: ClientRequest) {
        self.note(format_args!("client {call} > n{node} {request:?}"));
        if let Some(after) = self.network.send(CLIENTS, node).next() {
            self.events.add(after, Event::Request { node, call, request });
        }
        self.events.add(self.clients.patience(), Event::GiveUp { call });
    }

    /// A node goes on after it stood.
    pub(crate) fn resume(&mut self, address: Address) {
        let now = self.now();
        self.machine(address).go_on(now);
        for event in self.waiting.remove(&address).unwrap_or_default() {
            self.events.add(Duration::ZERO, event);
        }
    }

    /// A node does not run any more: what waits for it does not come.
    pub(crate) fn forget_waiting(&mut self, address: Address) {
        self.waiting.remove(&address);
    }

    /// From now on nothing goes wrong with messages.
    pub(crate) fn calm_network(&mut self) {
        self.network.become_like(NetworkSettings::calm());
    }
}
