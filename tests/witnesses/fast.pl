#!/usr/bin/perl
# A conversation of AMQP/Fast through the modules that the clients of 2005 generate from their frames (AMQ::Proto and
# AMQ::Frame): log in, make a queue, send a message to it, receive and acknowledge it, close on each level.
# Usage: perl -I FOLDER-OF-AMQ fast.pl HOST PORT. Prints "done" and what was received, or dies.
use strict;
use warnings;
use IO::Socket::INET;
use AMQ::Proto;
use AMQ::Frame;

my ($host, $port) = @ARGV;
my $socket = IO::Socket::INET->new (PeerAddr => "$host:$port") or die "no connection: $!";
$socket->autoflush (1);
my ($received, $queue, %seen);

sub field { pack ('C/a* a n/a*', $_ [0], 'S', $_ [1]) }
sub number { pack ('C/a* a N', $_ [0], 'I', $_ [1]) }
sub say_frame { my ($name, %fields) = @_; no strict 'refs'; &{"AMQ::Proto::$name"} ($socket, \%fields) }
sub hear { AMQ::Proto::recv ($socket, {map {my $t = $_; $t => sub {$seen{$t} = $_ [0]}} @_}) for 1 .. @_ }

AMQ::Proto::init ($socket);
hear (10);
say_frame ('connection_response', mechanism => 'PLAIN',
    responses => field ('LOGIN', 'guest') . field ('PASSWORD', 'guest'));
hear (12);
say_frame ('connection_tune', options => number ('FRAME_MAX', 32000), dictionary => '');
say_frame ('connection_open', confirm_tag => 1, virtual_path => '/', client_name => 'witness', options => '');
hear (18);
say_frame ('channel_open', channel_id => 1, confirm_tag => 2, transacted => 0, restartable => 0, options => '',
    out_of_band => '');
hear (28);
say_frame ('handle_open', channel_id => 1, handle_id => 1, confirm_tag => 3, producer => 1, consumer => 1,
    browser => 0, mime_type => '', encoding => '', options => '');
hear (48);
say_frame ('handle_consume', handle_id => 1, confirm_tag => 4, service_type => 1, prefetch => 1, no_local => 0,
    no_ack => 0, dynamic => 1, exclusive => 0, dest_name => '', selector => '');
hear (40, 48);
$queue = $seen{40}{dest_name};
my $message = pack ('N C C N C/a* C/a* C/a* n/a*', 5, 0, 4, 0, 'text/plain', '', 'one', '') . 'hello';
say_frame ('handle_send', handle_id => 1, confirm_tag => 0, service_type => 1, fragment_size => length ($message),
    partial => 0, out_of_band => 0, recovery => 0, immediate => 0, dest_name => $queue);
$socket->print ($message);
hear (41);
$socket->read ($received, $seen{41}{fragment_size});
die "another message" if $received ne $message;
say_frame ('channel_ack', channel_id => 1, confirm_tag => 5, message_nbr => $seen{41}{message_nbr});
hear (28);
say_frame ('connection_ping', respond => 1);
hear (14);
say_frame ('handle_close', handle_id => 1, reply_code => 200, reply_text => '');
hear (49);
say_frame ('channel_close', channel_id => 1, reply_code => 200, reply_text => '');
hear (29);
say_frame ('connection_close', reply_code => 200, reply_text => '');
hear (19);
print "done: ", substr ($received, -5), " from $queue\n";
