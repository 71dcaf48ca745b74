//! A network that delays, loses, doubles and reorders messages, and that is cut in one direction or both.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::random::Random;

/// Who sends and gets messages: nodes, and clients.
pub(crate) type Address = u32;

/// What the network does to messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NetworkSettings {
    /// No message takes less.
    pub(crate) delay_min: Duration,
    /// What is added to that on average. Delays differ, so later messages overtake earlier ones.
    pub(crate) delay_mean: Duration,
    /// So many of a million messages are lost.
    pub(crate) lost_per_million: u32,
    /// So many of a million messages come twice, at different times.
    pub(crate) doubled_per_million: u32,
    /// So many of a million messages are very late.
    pub(crate) late_per_million: u32,
    /// How late these are on average.
    pub(crate) late_mean: Duration,
}

impl NetworkSettings {
    /// The network of the liveness phase: what is sent comes, soon.
    pub(crate) fn calm() -> Self {
        NetworkSettings {
            delay_min: Duration::from_micros(100),
            delay_mean: Duration::from_micros(400),
            lost_per_million: 0,
            doubled_per_million: 0,
            late_per_million: 0,
            late_mean: Duration::ZERO,
        }
    }
}

/// The network at one moment.
#[derive(Debug)]
pub(crate) struct Network {
    settings: NetworkSettings,
    random: Random,
    /// From whom to whom nothing comes through.
    cut: BTreeSet<(Address, Address)>,
}

impl Network {
    /// A network that is whole.
    pub(crate) fn new(settings: NetworkSettings, random: Random) -> Self {
        Network { settings, random, cut: BTreeSet::new() }
    }

    /// How long copies of a message take that is sent now: none if it is lost, two if it is doubled.
    pub(crate) fn send(
        &mut self,
        from: Address,
        to: Address,
    ) -> impl Iterator<Item = Duration> + use<> {
        let NetworkSettings { lost_per_million, doubled_per_million, .. } = self.settings;
        // Drawn whether there is a cut or not: what is cut does not change what else happens.
        let is_lost = self.random.happens(lost_per_million);
        let first = self.delay();
        let second = self.random.happens(doubled_per_million).then(|| self.delay());
        let passes = !is_lost && !self.is_cut(from, to);
        passes.then_some(first).into_iter().chain(second.filter(|_| passes))
    }

    fn delay(&mut self) -> Duration {
        let NetworkSettings { delay_min, delay_mean, late_per_million, late_mean, .. } =
            self.settings;
        let late = self.random.happens(late_per_million);
        let mean = if late { late_mean } else { delay_mean };
        delay_min + Duration::from_micros(self.random.around(mean.as_micros() as u64))
    }

    /// From now on, nothing comes from one to the other.
    pub(crate) fn cut(&mut self, from: Address, to: Address) {
        self.cut.insert((from, to));
    }

    /// Whether messages from one to the other are lost.
    pub(crate) fn is_cut(&self, from: Address, to: Address) -> bool {
        self.cut.contains(&(from, to))
    }

    pub(crate) fn has_cuts(&self) -> bool {
        !self.cut.is_empty()
    }

    /// No cuts any more.
    pub(crate) fn join(&mut self) {
        self.cut.clear();
    }

    /// From now on it is like this, and whole.
    pub(crate) fn become_like(&mut self, settings: NetworkSettings) {
        self.settings = settings;
        self.join();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(change: impl Fn(&mut NetworkSettings)) -> Network {
        let mut settings = NetworkSettings::calm();
        change(&mut settings);
        Network::new(settings, Random::new(1, "network"))
    }

    #[test]
    fn a_calm_network_delivers_each_message_once_soon_and_out_of_order() {
        let mut network = network(|_| {});
        let delays: Vec<Vec<_>> = (0..1000).map(|_| network.send(1, 2).collect()).collect();
        assert!(delays.iter().all(|copies| copies.len() == 1));
        assert!(delays.iter().all(|copies| copies[0] < Duration::from_millis(20)));
        assert!(delays.windows(2).any(|pair| pair[0][0] > pair[1][0] * 2));
    }

    #[test]
    fn messages_are_lost_doubled_and_late_as_often_as_said() {
        let mut network = network(|s| {
            s.lost_per_million = 200_000;
            s.doubled_per_million = 100_000;
            s.late_per_million = 50_000;
            s.late_mean = Duration::from_secs(10);
        });
        let sent: Vec<Vec<_>> = (0..10_000).map(|_| network.send(1, 2).collect()).collect();
        let lost = sent.iter().filter(|copies| copies.is_empty()).count();
        let doubled = sent.iter().filter(|copies| copies.len() == 2).count();
        let late = sent.iter().flatten().filter(|&&delay| delay > Duration::from_secs(1)).count();
        assert!((1800..2200).contains(&lost), "{lost}");
        assert!((650..950).contains(&doubled), "{doubled}");
        assert!((300..550).contains(&late), "{late}");
    }

    #[test]
    fn a_cut_is_of_one_direction_and_changes_no_other_delay() {
        let (mut whole, mut cut) = (network(|_| {}), network(|_| {}));
        cut.cut(1, 2);
        assert!(whole.send(1, 2).next().is_some() && cut.send(1, 2).next().is_none());
        assert_eq!(whole.send(2, 1).next(), cut.send(2, 1).next());
        cut.join();
        assert_eq!(whole.send(1, 2).next(), cut.send(1, 2).next());
    }
}
